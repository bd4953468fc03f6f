// CheckTypes of parser_impl.h.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "promql/functions.h"
#include "promql/parser_impl.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

using Result = std::optional<TypeError>;

Result ExpectType(const Expr& expr, ValueType wanted, absl::string_view context) {
  const ValueType got = expr.Type();
  if (got == wanted) return std::nullopt;
  return TypeError{expr.at, absl::StrCat("expected type ", TypeName(wanted), " in ", context,
                                         ", got ", TypeName(got))};
}

struct Checker {
  size_t at;

  Result operator()(NumberLiteral&) const { return std::nullopt; }
  Result operator()(StringLiteral&) const { return std::nullopt; }
  Result operator()(Selector&) const { return std::nullopt; }
  Result operator()(Paren& paren) const { return CheckTypes(paren.expr.get()); }

  Result operator()(Subquery& subquery) const {
    if (Result error = CheckTypes(subquery.expr.get())) return error;
    const ValueType got = subquery.expr->Type();
    if (got == ValueType::kVector) return std::nullopt;
    return TypeError{
        at, absl::StrCat("subquery is only allowed on instant vector, got ", TypeName(got), " in ",
                         Quote(Print(*subquery.expr)), " instead")};
  }

  Result operator()(Call& call) const {
    const Function& function = *call.function;
    if (Result error = CheckArgCount(function, call.args.size())) return error;
    const std::string context = absl::StrCat("call to function ", Quote(function.name));
    for (size_t i = 0; i < call.args.size(); ++i) {
      const ValueType wanted = function.args[std::min(i, function.args.size() - 1)];
      if (Result error = CheckTypes(call.args[i].get())) return error;
      if (Result error = ExpectType(*call.args[i], wanted, context)) return error;
    }
    return std::nullopt;
  }

  Result CheckArgCount(const Function& function, size_t got) const {
    const size_t most = function.args.size();
    const size_t least = most - (function.repeated ? 1 : static_cast<size_t>(function.optional));
    const auto error = [&](absl::string_view how, size_t wanted) {
      return TypeError{at, absl::StrCat("expected ", how, wanted, " argument(s) in call to ",
                                        Quote(function.name), ", got ", got)};
    };
    if (least == most && got != most) return error("", most);
    if (got < least) return error("at least ", least);
    if (got > most && !function.repeated) return error("at most ", most);
    return std::nullopt;
  }

  Result operator()(Aggregation& aggregation) const {
    if (Result error = CheckTypes(aggregation.expr.get())) return error;
    if (Result error =
            ExpectType(*aggregation.expr, ValueType::kVector, "aggregation expression")) {
      return error;
    }
    if (!aggregation.param) return std::nullopt;
    if (Result error = CheckTypes(aggregation.param.get())) return error;
    return ExpectType(*aggregation.param,
                      aggregation.op == "count_values" ? ValueType::kString : ValueType::kScalar,
                      "aggregation parameter");
  }

  Result operator()(Unary& unary) const {
    if (Result error = CheckTypes(unary.expr.get())) return error;
    const ValueType got = unary.expr->Type();
    if (got == ValueType::kScalar || got == ValueType::kVector) return std::nullopt;
    return TypeError{at, absl::StrCat("unary expression only allowed on expressions of type "
                                      "scalar or instant vector, got ",
                                      Quote(TypeName(got)))};
  }

  Result operator()(Binary& binary) const {
    if (Result error = CheckTypes(binary.lhs.get())) return error;
    if (Result error = CheckTypes(binary.rhs.get())) return error;
    if (Result error = CheckModifiers(binary)) return error;
    for (const Expr* side : {binary.lhs.get(), binary.rhs.get()}) {
      const ValueType type = side->Type();
      if (type == ValueType::kScalar || type == ValueType::kVector) continue;
      return TypeError{side->at,
                       "binary expression must contain only scalar and instant vector types"};
    }
    return CheckMatching(binary);
  }

  static bool IsScalar(const Expr& expr) { return expr.Type() == ValueType::kScalar; }

  static Result CheckModifiers(const Binary& binary) {
    const bool comparison = IsComparison(binary.op);
    if (binary.return_bool && !comparison) {
      return TypeError{binary.op_at, "bool modifier can only be used on comparison operators"};
    }
    if (comparison && !binary.return_bool && IsScalar(*binary.lhs) && IsScalar(*binary.rhs)) {
      return TypeError{binary.op_at, "comparisons between scalars must use BOOL modifier"};
    }
    if (!binary.matching.on) return std::nullopt;
    for (const std::string& label : binary.matching.labels) {
      const auto& include = binary.matching.include;
      if (std::find(include.begin(), include.end(), label) == include.end()) continue;
      return TypeError{
          binary.op_at,
          absl::StrCat("label ", Quote(label), " must not occur in ON and GROUP clause at once")};
    }
    return std::nullopt;
  }

  Result CheckMatching(Binary& binary) const {
    const bool scalar = IsScalar(*binary.lhs) || IsScalar(*binary.rhs);
    if (scalar && !binary.matching.labels.empty()) {
      return TypeError{at, "vector matching only allowed between instant vectors"};
    }
    if (!IsSetOperator(binary.op)) return std::nullopt;
    if (scalar) {
      return TypeError{at, absl::StrCat("set operator ", Quote(binary.op),
                                        " not allowed in binary scalar expression")};
    }
    if (binary.matching.cardinality != Cardinality::kOneToOne) {
      return TypeError{at,
                       absl::StrCat("no grouping allowed for ", Quote(binary.op), " operation")};
    }
    binary.matching.cardinality = Cardinality::kManyToMany;
    return std::nullopt;
  }
};

}  // namespace

std::optional<TypeError> CheckTypes(Expr* expr) {
  return std::visit(Checker{expr->at}, expr->node);
}

}  // namespace flyball::promql
