#include "adapter/live/promql/parser.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapter/live/promql/check.h"
#include "adapter/live/promql/functions.h"
#include "adapter/live/promql/lexer.h"
#include "adapter/live/promql/text.h"
#include "base/status_macros.h"

namespace flyball::adapter::promql {
namespace {

// How strongly an operator binds; 0: not a binary operator. Unary signs bind like `*`.
int Precedence(absl::string_view op) {
  if (op == "or") return 1;
  if (op == "and" || op == "unless") return 2;
  if (IsComparison(op)) return 3;
  if (op == "+" || op == "-") return 4;
  if (op == "*" || op == "/" || op == "%" || op == "atan2") return 5;
  if (op == "^") return 6;
  return 0;
}
constexpr int kPowerPrecedence = 6;

bool TakesParameter(absl::string_view op) {
  return op == "topk" || op == "bottomk" || op == "quantile" || op == "count_values";
}

bool Outside(double ms) { return !(std::fabs(ms) <= 9.2e12); }  // int64 nanoseconds, about

class Parser {
 public:
  Parser(absl::string_view query, const ParseOptions& options)
      : query_(query), options_(options), tokens_(Lex(query)) {}

  absl::StatusOr<ExprPtr> Run();

 private:
  const Token& Peek(size_t ahead = 0) const {
    return tokens_[std::min(next_ + ahead, tokens_.size() - 1)];
  }
  const Token& Take() {
    const Token& token = Peek();
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  bool TakeIf(TokenKind kind) {
    if (Peek().kind != kind) return false;
    Take();
    return true;
  }
  bool PeekSign() const {
    return Peek().Is(TokenKind::kOperator, "+") || Peek().Is(TokenKind::kOperator, "-");
  }

  absl::Status Error(size_t at, absl::string_view text,
                     absl::StatusCode code = absl::StatusCode::kInvalidArgument) const;
  // The next token does not belong here.
  absl::Status Unexpected(absl::string_view context = "", absl::string_view expected = "") const;
  // `expr` with its position and depth.
  template <typename Node>
  absl::StatusOr<ExprPtr> Make(size_t at, Node node, int child_depth = 0) const;

  absl::StatusOr<ExprPtr> ParseExpr(int min_precedence);
  absl::StatusOr<ExprPtr> ParseBinary(ExprPtr lhs, int precedence);
  absl::Status ParseMatching(Binary* binary);
  absl::StatusOr<ExprPtr> ParseUnary();
  absl::StatusOr<ExprPtr> ParsePostfix();
  absl::StatusOr<ExprPtr> ParsePrimary();
  absl::StatusOr<ExprPtr> ParseNumberLiteral();
  absl::StatusOr<ExprPtr> ParseParen();
  absl::StatusOr<ExprPtr> ParseCall();
  absl::StatusOr<std::vector<ExprPtr>> ParseArgs();
  absl::StatusOr<ExprPtr> ParseAggregation();
  absl::Status ParseGrouping(Grouping* grouping);
  absl::StatusOr<std::vector<std::string>> ParseLabelList();
  absl::StatusOr<std::string> ParseGroupingLabel();
  absl::StatusOr<ExprPtr> ParseSelector();
  absl::Status ParseMatchers(Selector* selector);
  absl::Status ParseMatcher(Selector* selector);
  absl::Status FinishSelector(size_t at, Selector* selector) const;
  absl::StatusOr<ExprPtr> ParseBrackets(ExprPtr expr);
  absl::Status ParseOffset(Expr* expr);
  absl::Status ParseAt(Expr* expr);
  absl::StatusOr<int64_t> ParsePositiveDuration();
  absl::StatusOr<double> ParseDurationExpr(int min_precedence);
  absl::StatusOr<double> ParseDurationTerm();

  const absl::string_view query_;
  const ParseOptions options_;
  const std::vector<Token> tokens_;
  size_t next_ = 0;
  int nesting_ = 0;
};

// Counts one level of recursion for its lifetime.
class Nesting {
 public:
  explicit Nesting(int* depth) : depth_(depth) { ++*depth_; }
  ~Nesting() { --*depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  int* depth_;
};

absl::Status Parser::Error(size_t at, absl::string_view text, absl::StatusCode code) const {
  const absl::string_view before = query_.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return absl::Status(code, absl::StrCat(line, ":", at - line_start + 1, ": parse error: ", text));
}

absl::Status Parser::Unexpected(absl::string_view context, absl::string_view expected) const {
  const Token& token = Peek();
  if (token.kind == TokenKind::kError) return Error(token.at, token.error);
  std::string text = absl::StrCat("unexpected ", token.Describe());
  if (!context.empty()) absl::StrAppend(&text, " in ", context);
  if (!expected.empty()) absl::StrAppend(&text, ", expected ", expected);
  return Error(token.at, text);
}

template <typename Node>
absl::StatusOr<ExprPtr> Parser::Make(size_t at, Node node, int child_depth) const {
  if (child_depth >= options_.max_depth) {
    return Error(at, absl::StrCat("the expression is nested more than ", options_.max_depth,
                                  " levels deep"));
  }
  auto expr = std::make_unique<Expr>();
  expr->node = std::move(node);
  expr->at = at;
  expr->depth = child_depth + 1;
  return expr;
}

absl::StatusOr<ExprPtr> Parser::Run() {
  if (query_.size() > options_.max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the query is longer than ", options_.max_bytes, " bytes"));
  }
  if (Peek().kind == TokenKind::kEnd) return Error(0, "no expression found in input");
  ASSIGN_OR_RETURN(ExprPtr expr, ParseExpr(1));
  if (Peek().kind != TokenKind::kEnd) return Unexpected();
  if (auto error = CheckTypes(expr.get())) return Error(error->at, error->text);
  return expr;
}

absl::StatusOr<ExprPtr> Parser::ParseExpr(int min_precedence) {
  const Nesting nesting(&nesting_);
  if (nesting_ > options_.max_depth) {
    return Error(Peek().at, absl::StrCat("the expression is nested more than ", options_.max_depth,
                                         " levels deep"));
  }
  ASSIGN_OR_RETURN(ExprPtr lhs, ParseUnary());
  while (Peek().kind == TokenKind::kOperator) {
    const int precedence = Precedence(Peek().word);
    if (precedence == 0 || precedence < min_precedence) break;
    ASSIGN_OR_RETURN(lhs, ParseBinary(std::move(lhs), precedence));
  }
  return lhs;
}

absl::StatusOr<ExprPtr> Parser::ParseBinary(ExprPtr lhs, int precedence) {
  Binary binary;
  binary.op_at = Peek().at;
  binary.op = Take().word;
  RETURN_IF_ERROR(ParseMatching(&binary));
  const bool right_associative = precedence == kPowerPrecedence;
  ASSIGN_OR_RETURN(binary.rhs, ParseExpr(right_associative ? precedence : precedence + 1));
  const size_t at = lhs->at;
  const int depth = std::max(lhs->depth, binary.rhs->depth);
  binary.lhs = std::move(lhs);
  return Make(at, std::move(binary), depth);
}

absl::Status Parser::ParseMatching(Binary* binary) {
  if (Peek().Is(TokenKind::kKeyword, "bool")) {
    Take();
    binary->return_bool = true;
  }
  Matching& matching = binary->matching;
  matching.on = Peek().Is(TokenKind::kKeyword, "on");
  if (!matching.on && !Peek().Is(TokenKind::kKeyword, "ignoring")) return absl::OkStatus();
  Take();
  matching.given = true;
  ASSIGN_OR_RETURN(matching.labels, ParseLabelList());
  const bool left = Peek().Is(TokenKind::kKeyword, "group_left");
  if (!left && !Peek().Is(TokenKind::kKeyword, "group_right")) return absl::OkStatus();
  Take();
  matching.cardinality = left ? Cardinality::kManyToOne : Cardinality::kOneToMany;
  // A parenthesis here is always the label list, never the right-hand side.
  if (Peek().kind == TokenKind::kLeftParen) {
    ASSIGN_OR_RETURN(matching.include, ParseLabelList());
  }
  return absl::OkStatus();
}

absl::StatusOr<ExprPtr> Parser::ParseUnary() {
  if (!PeekSign()) return ParsePostfix();
  const Token& sign = Take();
  const bool negative = sign.word == "-";
  ASSIGN_OR_RETURN(ExprPtr operand, ParseExpr(kPowerPrecedence));
  if (auto* number = std::get_if<NumberLiteral>(&operand->node)) {
    if (negative) number->value = -number->value;
    operand->at = sign.at;
    return operand;
  }
  const int depth = operand->depth;
  return Make(sign.at, Unary{.negative = negative, .expr = std::move(operand)}, depth);
}

absl::StatusOr<ExprPtr> Parser::ParsePostfix() {
  ASSIGN_OR_RETURN(ExprPtr expr, ParsePrimary());
  for (;;) {
    if (Peek().kind == TokenKind::kLeftBracket) {
      ASSIGN_OR_RETURN(expr, ParseBrackets(std::move(expr)));
    } else if (Peek().Is(TokenKind::kKeyword, "offset")) {
      RETURN_IF_ERROR(ParseOffset(expr.get()));
    } else if (Peek().Is(TokenKind::kOperator, "@")) {
      RETURN_IF_ERROR(ParseAt(expr.get()));
    } else {
      return expr;
    }
  }
}

absl::StatusOr<ExprPtr> Parser::ParsePrimary() {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kNumber:
    case TokenKind::kDuration:
      return ParseNumberLiteral();
    case TokenKind::kString: {
      ASSIGN_OR_RETURN(std::string value, Unquote(Take().text));
      return Make(token.at, StringLiteral{std::move(value)});
    }
    case TokenKind::kLeftParen:
      return ParseParen();
    case TokenKind::kIdentifier:
      if (Peek(1).kind == TokenKind::kLeftParen) return ParseCall();
      return ParseSelector();
    case TokenKind::kAggregation: {
      const Token& next = Peek(1);
      if (next.kind == TokenKind::kLeftParen || next.Is(TokenKind::kKeyword, "by") ||
          next.Is(TokenKind::kKeyword, "without")) {
        return ParseAggregation();
      }
      return ParseSelector();
    }
    case TokenKind::kMetricIdentifier:
    case TokenKind::kLeftBrace:
      return ParseSelector();
    case TokenKind::kKeyword:
      if (token.word == "by" || token.word == "without" || token.word == "offset" ||
          token.word == "start" || token.word == "end") {
        return ParseSelector();
      }
      return Unexpected();
    case TokenKind::kOperator:
      if (IsSetOperator(token.word)) return ParseSelector();
      return Unexpected();
    default:
      return Unexpected();
  }
}

absl::StatusOr<ExprPtr> Parser::ParseNumberLiteral() {
  const Token& token = Take();
  if (token.kind == TokenKind::kDuration) {
    const auto ms = ParseDurationMs(token.text);
    if (!ms.ok()) return Error(token.at, ms.status().message());
    return Make(token.at, NumberLiteral{static_cast<double>(*ms) / 1000});
  }
  const auto value = ParseNumber(token.text);
  if (!value.ok()) return Error(token.at, value.status().message());
  return Make(token.at, NumberLiteral{*value});
}

absl::StatusOr<ExprPtr> Parser::ParseParen() {
  const size_t at = Take().at;
  ASSIGN_OR_RETURN(ExprPtr inner, ParseExpr(1));
  if (!TakeIf(TokenKind::kRightParen)) return Unexpected();
  const int depth = inner->depth;
  return Make(at, Paren{std::move(inner)}, depth);
}

absl::StatusOr<std::vector<ExprPtr>> Parser::ParseArgs() {
  if (!TakeIf(TokenKind::kLeftParen)) return Unexpected("aggregation", "\"(\"");
  std::vector<ExprPtr> args;
  if (TakeIf(TokenKind::kRightParen)) return args;
  for (;;) {
    ASSIGN_OR_RETURN(ExprPtr arg, ParseExpr(1));
    args.push_back(std::move(arg));
    if (TakeIf(TokenKind::kRightParen)) return args;
    const size_t comma_at = Peek().at;
    if (!TakeIf(TokenKind::kComma)) return Unexpected();
    if (Peek().kind == TokenKind::kRightParen) {
      return Error(comma_at, "trailing commas not allowed in function call args");
    }
  }
}

int DeepestOf(const std::vector<ExprPtr>& exprs) {
  int depth = 0;
  for (const ExprPtr& expr : exprs) depth = std::max(depth, expr->depth);
  return depth;
}

absl::StatusOr<ExprPtr> Parser::ParseCall() {
  const Token& name = Take();
  Call call;
  ASSIGN_OR_RETURN(call.args, ParseArgs());
  call.function = FindFunction(name.text);
  if (call.function == nullptr) {
    if (IsKnownElsewhere(name.text)) {
      return Error(name.at, absl::StrCat("function ", name.text, "() is outside the PromQL subset"),
                   absl::StatusCode::kUnimplemented);
    }
    return Error(name.at, absl::StrCat("unknown function with name ", Quote(name.text)));
  }
  const int depth = DeepestOf(call.args);
  return Make(name.at, std::move(call), depth);
}

absl::StatusOr<ExprPtr> Parser::ParseAggregation() {
  const Token& op = Take();
  Aggregation aggregation;
  aggregation.op = op.word;
  RETURN_IF_ERROR(ParseGrouping(&aggregation.grouping));
  ASSIGN_OR_RETURN(std::vector<ExprPtr> args, ParseArgs());
  if (!aggregation.grouping.given) RETURN_IF_ERROR(ParseGrouping(&aggregation.grouping));

  if (args.empty()) return Error(op.at, "no arguments for aggregate expression provided");
  const size_t wanted = TakesParameter(op.word) ? 2 : 1;
  if (args.size() != wanted) {
    return Error(op.at, absl::StrCat("wrong number of arguments for aggregate expression "
                                     "provided, expected ",
                                     wanted, ", got ", args.size()));
  }
  const int depth = DeepestOf(args);
  aggregation.expr = std::move(args.back());
  if (wanted == 2) aggregation.param = std::move(args.front());
  return Make(op.at, std::move(aggregation), depth);
}

absl::Status Parser::ParseGrouping(Grouping* grouping) {
  grouping->without = Peek().Is(TokenKind::kKeyword, "without");
  if (!grouping->without && !Peek().Is(TokenKind::kKeyword, "by")) return absl::OkStatus();
  Take();
  grouping->given = true;
  ASSIGN_OR_RETURN(grouping->labels, ParseLabelList());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Parser::ParseLabelList() {
  if (!TakeIf(TokenKind::kLeftParen)) return Unexpected("grouping opts", "\"(\"");
  std::vector<std::string> labels;
  while (!TakeIf(TokenKind::kRightParen)) {
    ASSIGN_OR_RETURN(std::string label, ParseGroupingLabel());
    labels.push_back(std::move(label));
    if (TakeIf(TokenKind::kComma) || Peek().kind == TokenKind::kRightParen) continue;
    return Unexpected("grouping opts", "\",\" or \")\"");
  }
  return labels;
}

absl::StatusOr<std::string> Parser::ParseGroupingLabel() {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kString:
      return Unquote(Take().text);
    case TokenKind::kKeyword:
      if (token.word == "without") return Unexpected("grouping opts", "label");
      return std::string(Take().text);
    case TokenKind::kMetricIdentifier:
      if (options_.dialect == Dialect::k2) return Unexpected("grouping opts", "label");
      return std::string(Take().text);
    case TokenKind::kOperator:
      if (!IsIdentifier(token.text, false)) return Unexpected("grouping opts", "label");
      return std::string(Take().text);
    case TokenKind::kIdentifier:
    case TokenKind::kAggregation:
      return std::string(Take().text);
    default:
      return Unexpected("grouping opts", "label");
  }
}

absl::StatusOr<ExprPtr> Parser::ParseSelector() {
  const size_t at = Peek().at;
  Selector selector;
  if (Peek().kind != TokenKind::kLeftBrace) selector.name = std::string(Take().text);
  if (TakeIf(TokenKind::kLeftBrace)) RETURN_IF_ERROR(ParseMatchers(&selector));
  RETURN_IF_ERROR(FinishSelector(at, &selector));
  return Make(at, std::move(selector));
}

absl::Status Parser::ParseMatchers(Selector* selector) {
  while (!TakeIf(TokenKind::kRightBrace)) {
    RETURN_IF_ERROR(ParseMatcher(selector));
    if (TakeIf(TokenKind::kComma) || Peek().kind == TokenKind::kRightBrace) continue;
    return Unexpected("label matching", "\",\" or \"}\"");
  }
  return absl::OkStatus();
}

absl::Status Parser::ParseMatcher(Selector* selector) {
  const Token& label = Peek();
  const bool quoted = label.kind == TokenKind::kString;
  if (!quoted && label.kind != TokenKind::kIdentifier) {
    return Unexpected("label matching", "identifier or \"}\"");
  }
  Take();
  std::string name(label.text);
  if (quoted) {
    ASSIGN_OR_RETURN(name, Unquote(label.text));
    // A string alone is the metric's name.
    if (Peek().kind == TokenKind::kComma || Peek().kind == TokenKind::kRightBrace) {
      if (name.empty()) return Error(label.at, "metric name must not be empty");
      if (!selector->name.empty()) {
        return Error(label.at, absl::StrCat("metric name must not be set twice: ",
                                            Quote(selector->name), " or ", Quote(name)));
      }
      selector->name = std::move(name);
      return absl::OkStatus();
    }
  }
  Matcher::Op op = Matcher::Op::kEqual;
  if (Peek().Is(TokenKind::kOperator, "!=")) {
    op = Matcher::Op::kNotEqual;
  } else if (Peek().Is(TokenKind::kOperator, "=~")) {
    op = Matcher::Op::kRegex;
  } else if (Peek().Is(TokenKind::kOperator, "!~")) {
    op = Matcher::Op::kNotRegex;
  } else if (Peek().kind != TokenKind::kAssign) {
    return Unexpected("label matching", "label matching operator");
  }
  Take();
  if (Peek().kind != TokenKind::kString) return Unexpected("label matching", "string");
  ASSIGN_OR_RETURN(const std::string value, Unquote(Take().text));
  auto matcher = Matcher::Make(name, op, value, options_.dialect == Dialect::k3);
  if (!matcher.ok()) return Error(label.at, matcher.status().message());
  selector->matchers.push_back(*std::move(matcher));
  return absl::OkStatus();
}

absl::Status Parser::FinishSelector(size_t at, Selector* selector) const {
  if (selector->name.empty()) {
    for (const Matcher& matcher : selector->matchers) {
      if (!matcher.Matches("")) return absl::OkStatus();
    }
    return Error(at, "vector selector must contain at least one non-empty matcher");
  }
  for (const Matcher& matcher : selector->matchers) {
    if (matcher.label() != "__name__") continue;
    return Error(at, absl::StrCat("metric name must not be set twice: ", Quote(selector->name),
                                  " or ", Quote(matcher.value())));
  }
  ASSIGN_OR_RETURN(Matcher name, Matcher::Make("__name__", Matcher::Op::kEqual, selector->name,
                                               options_.dialect == Dialect::k3));
  selector->matchers.push_back(std::move(name));
  return absl::OkStatus();
}

absl::StatusOr<ExprPtr> Parser::ParseBrackets(ExprPtr expr) {
  const size_t bracket_at = Take().at;
  ASSIGN_OR_RETURN(const int64_t range_ms, ParsePositiveDuration());
  if (TakeIf(TokenKind::kColon)) {
    Subquery subquery;
    subquery.range_ms = range_ms;
    if (Peek().kind != TokenKind::kRightBracket) {
      ASSIGN_OR_RETURN(subquery.step_ms, ParsePositiveDuration());
    }
    if (!TakeIf(TokenKind::kRightBracket)) return Unexpected("subquery selector", "\"]\"");
    const size_t at = expr->at;
    const int depth = expr->depth;
    subquery.expr = std::move(expr);
    return Make(at, std::move(subquery), depth);
  }
  if (!TakeIf(TokenKind::kRightBracket)) {
    return Unexpected("subquery or range", "\":\" or \"]\"");
  }
  auto* selector = std::get_if<Selector>(&expr->node);
  if (selector == nullptr || selector->range_ms > 0) {
    return Error(bracket_at, "ranges only allowed for vector selectors");
  }
  if (selector->shift.offset_ms != 0) {
    return Error(bracket_at, "no offset modifiers allowed before range");
  }
  // Prometheus 2 lets `x @ start()[5m]` pass.
  using At = TimeShift::At;
  const bool passes = options_.dialect == Dialect::k2 && selector->shift.at != At::kTime;
  if (selector->shift.at != At::kNone && !passes) {
    return Error(bracket_at, "no @ modifiers allowed before range");
  }
  selector->range_ms = range_ms;
  return expr;
}

// The shift of a selector or subquery; nullptr for anything else.
TimeShift* ShiftOf(Expr* expr) {
  if (auto* selector = std::get_if<Selector>(&expr->node)) return &selector->shift;
  if (auto* subquery = std::get_if<Subquery>(&expr->node)) return &subquery->shift;
  return nullptr;
}

absl::Status Parser::ParseOffset(Expr* expr) {
  Take();
  const Token& first = Peek();
  ASSIGN_OR_RETURN(const double seconds, ParseDurationTerm());
  if (Outside(seconds * 1000)) return Error(first.at, "duration out of range");
  TimeShift* shift = ShiftOf(expr);
  if (shift == nullptr) {
    return Error(expr->at,
                 "offset modifier must be preceded by an instant vector selector or range vector "
                 "selector or a subquery");
  }
  if (shift->offset_ms != 0) return Error(expr->at, "offset may not be set multiple times");
  shift->offset_ms = static_cast<int64_t>(std::round(seconds * 1000));
  return absl::OkStatus();
}

absl::Status Parser::ParseAt(Expr* expr) {
  Take();
  TimeShift::At at = TimeShift::At::kTime;
  double seconds = 0;
  const Token& first = Peek();
  if (first.Is(TokenKind::kKeyword, "start") || first.Is(TokenKind::kKeyword, "end")) {
    at = Take().word == "start" ? TimeShift::At::kStart : TimeShift::At::kEnd;
    if (!TakeIf(TokenKind::kLeftParen)) return Unexpected("@", "timestamp");
    if (!TakeIf(TokenKind::kRightParen)) return Unexpected("@", "timestamp");
  } else {
    bool negative = false;
    if (PeekSign()) negative = Take().word == "-";
    if (Peek().kind != TokenKind::kNumber && Peek().kind != TokenKind::kDuration) {
      return Unexpected("@", "timestamp");
    }
    ASSIGN_OR_RETURN(const ExprPtr number, ParseNumberLiteral());
    seconds = number->As<NumberLiteral>()->value * (negative ? -1 : 1);
  }
  TimeShift* shift = ShiftOf(expr);
  if (shift == nullptr) {
    return Error(expr->at,
                 "@ modifier must be preceded by an instant vector selector or range vector "
                 "selector or a subquery");
  }
  if (shift->at != TimeShift::At::kNone) {
    return Error(expr->at, "@ <timestamp> may not be set multiple times");
  }
  if (Outside(seconds * 1000)) {
    return Error(first.at,
                 absl::StrCat("timestamp out of bounds for @ modifier: ", FormatValue(seconds)));
  }
  shift->at = at;
  shift->at_ms = static_cast<int64_t>(std::round(seconds * 1000));
  return absl::OkStatus();
}

absl::StatusOr<int64_t> Parser::ParsePositiveDuration() {
  const size_t at = Peek().at;
  ASSIGN_OR_RETURN(const double seconds, ParseDurationExpr(1));
  const double ms = std::round(seconds * 1000);
  if (Outside(ms) && !(ms < 0)) return Error(at, "duration out of range");
  if (ms < 1) return Error(at, "duration must be greater than 0");
  return static_cast<int64_t>(ms);
}

// Constant arithmetic on durations and numbers, in seconds: what brackets may hold.
absl::StatusOr<double> Parser::ParseDurationExpr(int min_precedence) {
  const Nesting nesting(&nesting_);
  if (nesting_ > options_.max_depth) return Error(Peek().at, "the duration is nested too deep");
  ASSIGN_OR_RETURN(double value, ParseDurationTerm());
  while (Peek().kind == TokenKind::kOperator) {
    const std::string& op = Peek().word;
    const int precedence = op == "atan2" ? 0 : Precedence(op);
    if (precedence < std::max(min_precedence, Precedence("+"))) break;
    Take();
    ASSIGN_OR_RETURN(
        const double rhs,
        ParseDurationExpr(precedence == kPowerPrecedence ? precedence : precedence + 1));
    if (op == "+") value += rhs;
    if (op == "-") value -= rhs;
    if (op == "*") value *= rhs;
    if (op == "/") value /= rhs;
    if (op == "%") value = std::fmod(value, rhs);
    if (op == "^") value = std::pow(value, rhs);
  }
  return value;
}

absl::StatusOr<double> Parser::ParseDurationTerm() {
  const Nesting nesting(&nesting_);
  if (nesting_ > options_.max_depth) return Error(Peek().at, "the duration is nested too deep");
  if (PeekSign()) {
    const bool negative = Take().word == "-";
    ASSIGN_OR_RETURN(const double operand, ParseDurationTerm());
    return negative ? -operand : operand;
  }
  if (TakeIf(TokenKind::kLeftParen)) {
    ASSIGN_OR_RETURN(const double inner, ParseDurationExpr(1));
    if (!TakeIf(TokenKind::kRightParen)) return Unexpected("duration", "\")\"");
    return inner;
  }
  const Token& token = Peek();
  if (token.kind == TokenKind::kNumber || token.kind == TokenKind::kDuration) {
    ASSIGN_OR_RETURN(const ExprPtr number, ParseNumberLiteral());
    return number->As<NumberLiteral>()->value;
  }
  if (token.kind == TokenKind::kIdentifier && Peek(1).kind == TokenKind::kLeftParen &&
      (token.text == "step" || token.text == "range")) {
    return Error(token.at,
                 absl::StrCat(token.text, "() in a duration is outside the PromQL subset"),
                 absl::StatusCode::kUnimplemented);
  }
  return Unexpected("duration", "number or duration");
}

}  // namespace

absl::StatusOr<ExprPtr> Parse(absl::string_view query, const ParseOptions& options) {
  return Parser(query, options).Run();
}

absl::StatusOr<Selector> ParseSeriesSelector(absl::string_view query, const ParseOptions& options) {
  ASSIGN_OR_RETURN(ExprPtr expr, Parse(query, options));
  auto* selector = std::get_if<Selector>(&expr->node);
  if (selector == nullptr || selector->range_ms > 0 || selector->shift.offset_ms != 0 ||
      selector->shift.at != TimeShift::At::kNone) {
    return absl::InvalidArgumentError(
        absl::StrCat("1:1: parse error: expected a series selector, got ", Quote(query)));
  }
  return std::move(*selector);
}

}  // namespace flyball::adapter::promql
