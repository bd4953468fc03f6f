// Ranges, subqueries, offset, @ and the durations in them: of parser_impl.h.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/parser_impl.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

bool Outside(double ms) { return !(std::fabs(ms) <= 9.2e12); }  // int64 nanoseconds, about

// As Go makes an int64 of nanoseconds of a NaN.
constexpr double kNanOffsetMs = -9223372036854;

// The shift of a selector or subquery; nullptr for anything else.
TimeShift* ShiftOf(Expr* expr) {
  if (auto* selector = std::get_if<Selector>(&expr->node)) return &selector->shift;
  if (auto* subquery = std::get_if<Subquery>(&expr->node)) return &subquery->shift;
  return nullptr;
}

}  // namespace

absl::StatusOr<ExprPtr> Parser::ParseBrackets(ExprPtr expr) {
  const size_t bracket_at = Take().at;
  // Prometheus 3 names what follows the colon.
  if (dialect_ == Dialect::k3 && Peek().kind == TokenKind::kColon) {
    return Error(Peek(1).at, "unexpected colon before duration in duration expression");
  }
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
  if (!TakeIf(TokenKind::kRightBracket)) return Unexpected("subquery or range", "\":\" or \"]\"");
  auto* selector = std::get_if<Selector>(&expr->node);
  if (selector == nullptr || selector->range_ms > 0) {
    return Error(bracket_at, "ranges only allowed for vector selectors");
  }
  if (selector->shift.offset_ms != 0) {
    return Error(bracket_at, "no offset modifiers allowed before range");
  }
  // Prometheus 2 lets `x @ start()[5m]` pass.
  using At = TimeShift::At;
  const bool passes = dialect_ == Dialect::k2 && selector->shift.at != At::kTime;
  if (selector->shift.at != At::kNone && !passes) {
    return Error(bracket_at, "no @ modifiers allowed before range");
  }
  selector->range_ms = range_ms;
  return expr;
}

absl::Status Parser::ParseOffset(Expr* expr) {
  Take();
  const Token& first = Peek();
  ASSIGN_OR_RETURN(const double seconds, ParseDurationTerm());
  const double ms = std::isnan(seconds) ? kNanOffsetMs : std::round(seconds * 1000);
  if (Outside(ms) && !std::isnan(seconds)) return Error(first.at, "duration out of range");
  TimeShift* shift = ShiftOf(expr);
  if (shift == nullptr) {
    return Error(expr->at,
                 "offset modifier must be preceded by an instant vector selector or range vector "
                 "selector or a subquery");
  }
  if (shift->offset_ms != 0) return Error(expr->at, "offset may not be set multiple times");
  shift->offset_ms = static_cast<int64_t>(ms);
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
  constexpr double kInt64 = 9223372036854775807.0;
  if (!(std::fabs(seconds) < kInt64)) {
    return Error(expr->at,
                 absl::StrCat("timestamp out of bounds for @ modifier: ", FormatValue(seconds)));
  }
  shift->at = at;
  // No sample is that far away, and a range or offset may be taken off without overflow.
  constexpr double kFarMs = 1e17;
  shift->at_ms = static_cast<int64_t>(std::clamp(std::round(seconds * 1000), -kFarMs, kFarMs));
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
  if (nesting_ > kMaxNesting) return Error(Peek().at, "the duration is nested too deep");
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
  if (nesting_ > kMaxNesting) return Error(Peek().at, "the duration is nested too deep");
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
    return ParseSpanFunction();
  }
  return Unexpected("duration", "number or duration");
}

// step() or range().
absl::StatusOr<double> Parser::ParseSpanFunction() {
  const Token& name = Take();
  if (!span_) {
    return Error(name.at, absl::StrCat(name.text, "() in a duration is outside the PromQL subset"),
                 absl::StatusCode::kUnimplemented);
  }
  Take();
  if (!TakeIf(TokenKind::kRightParen)) return Unexpected("duration", "\")\"");
  return name.text == "step" ? span_->step_seconds : span_->range_seconds;
}

}  // namespace flyball::promql
