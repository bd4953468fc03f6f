#include "promql/ast.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "promql/functions.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

std::string PrintLabels(const std::vector<std::string>& labels) {
  return absl::StrCat("(", absl::StrJoin(labels, ", "), ")");
}

std::string PrintShift(const TimeShift& shift) {
  std::string text;
  switch (shift.at) {
    case TimeShift::At::kNone: break;
    case TimeShift::At::kTime:
      absl::StrAppend(&text, " @ ", FormatPlain(static_cast<double>(shift.at_ms) / 1000));
      break;
    case TimeShift::At::kStart: text += " @ start()"; break;
    case TimeShift::At::kEnd: text += " @ end()"; break;
  }
  if (shift.offset_ms != 0) absl::StrAppend(&text, " offset ", FormatDurationMs(shift.offset_ms));
  return text;
}

struct Printer {
  std::string operator()(const NumberLiteral& number) const {
    if (std::isinf(number.value)) return number.value > 0 ? "Inf" : "-Inf";
    return FormatValue(number.value);
  }
  std::string operator()(const StringLiteral& literal) const { return Quote(literal.value); }

  std::string operator()(const Selector& selector) const {
    std::vector<std::string> matchers;
    for (const Matcher& matcher : selector.matchers) {
      if (!selector.name.empty() && &matcher == &selector.matchers.back()) continue;
      // A name outside the classic alphabet can only be written as a string.
      matchers.push_back(IsIdentifier(matcher.label(), false)
                             ? matcher.ToString()
                             : absl::StrCat(Quote(matcher.label()),
                                            matcher.ToString().substr(matcher.label().size())));
    }
    const bool quoted = !selector.name.empty() && !IsIdentifier(selector.name, true);
    if (quoted) matchers.insert(matchers.begin(), Quote(selector.name));
    std::string text = quoted ? "" : selector.name;
    if (!matchers.empty()) absl::StrAppend(&text, "{", absl::StrJoin(matchers, ","), "}");
    if (selector.range_ms > 0) {
      absl::StrAppend(&text, "[", FormatDurationMs(selector.range_ms), "]");
    }
    return text + PrintShift(selector.shift);
  }

  std::string operator()(const Subquery& subquery) const {
    return absl::StrCat(Print(*subquery.expr), "[", FormatDurationMs(subquery.range_ms), ":",
                        subquery.step_ms > 0 ? FormatDurationMs(subquery.step_ms) : "", "]",
                        PrintShift(subquery.shift));
  }

  std::string operator()(const Call& call) const {
    return absl::StrCat(call.function->name, "(", PrintList(call.args), ")");
  }

  std::string operator()(const Aggregation& aggregation) const {
    std::string text = aggregation.op;
    if (aggregation.grouping.given) {
      absl::StrAppend(&text, aggregation.grouping.without ? " without " : " by ",
                      PrintLabels(aggregation.grouping.labels), " ");
    }
    absl::StrAppend(&text, "(");
    if (aggregation.param) absl::StrAppend(&text, Print(*aggregation.param), ", ");
    return absl::StrCat(text, Print(*aggregation.expr), ")");
  }

  std::string operator()(const Binary& binary) const {
    std::string text = absl::StrCat(Print(*binary.lhs), " ", binary.op, " ");
    if (binary.return_bool) text += "bool ";
    const Matching& matching = binary.matching;
    if (matching.given) {
      absl::StrAppend(&text, matching.on ? "on " : "ignoring ", PrintLabels(matching.labels), " ");
    }
    if (matching.cardinality == Cardinality::kManyToOne) {
      absl::StrAppend(&text, "group_left ", PrintLabels(matching.include), " ");
    } else if (matching.cardinality == Cardinality::kOneToMany) {
      absl::StrAppend(&text, "group_right ", PrintLabels(matching.include), " ");
    }
    return text + Print(*binary.rhs);
  }

  std::string operator()(const Unary& unary) const {
    return absl::StrCat(unary.negative ? "-" : "+", Print(*unary.expr));
  }
  std::string operator()(const Paren& paren) const {
    return absl::StrCat("(", Print(*paren.expr), ")");
  }

  static std::string PrintList(const std::vector<ExprPtr>& list) {
    return absl::StrJoin(list, ", ", [](std::string* out, const ExprPtr& expr) {
      absl::StrAppend(out, Print(*expr));
    });
  }
};

}  // namespace

absl::string_view TypeName(ValueType type) {
  switch (type) {
    case ValueType::kScalar: return "scalar";
    case ValueType::kString: return "string";
    case ValueType::kVector: return "instant vector";
    case ValueType::kMatrix: return "range vector";
  }
  return "";
}

ValueType Expr::Type() const {
  if (As<NumberLiteral>()) return ValueType::kScalar;
  if (As<StringLiteral>()) return ValueType::kString;
  if (const auto* selector = As<Selector>()) {
    return selector->range_ms > 0 ? ValueType::kMatrix : ValueType::kVector;
  }
  if (As<Subquery>()) return ValueType::kMatrix;
  if (const auto* call = As<Call>()) return call->function->returns;
  if (As<Aggregation>()) return ValueType::kVector;
  if (const auto* unary = As<Unary>()) return unary->expr->Type();
  if (const auto* paren = As<Paren>()) return paren->expr->Type();
  const auto& binary = std::get<Binary>(node);
  const bool scalars =
      binary.lhs->Type() == ValueType::kScalar && binary.rhs->Type() == ValueType::kScalar;
  return scalars ? ValueType::kScalar : ValueType::kVector;
}

const Expr& Unwrap(const Expr& expr) {
  const Expr* inner = &expr;
  while (const auto* paren = inner->As<Paren>()) inner = paren->expr.get();
  return *inner;
}

bool IsComparison(absl::string_view op) {
  return op == "==" || op == "!=" || op == ">" || op == "<" || op == ">=" || op == "<=";
}

bool IsSetOperator(absl::string_view op) { return op == "and" || op == "or" || op == "unless"; }

std::string Print(const Expr& expr) { return std::visit(Printer{}, expr.node); }

}  // namespace flyball::promql
