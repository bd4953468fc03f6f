#include "promql/parser.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/functions.h"
#include "promql/parser_impl.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

bool TakesParameter(absl::string_view op) {
  return op == "topk" || op == "bottomk" || op == "quantile" || op == "count_values";
}

int DeepestOf(const std::vector<ExprPtr>& exprs) {
  int depth = 0;
  for (const ExprPtr& expr : exprs) depth = std::max(depth, expr->depth);
  return depth;
}

absl::StatusOr<ExprPtr> ParseIn(RegexRoom& room, absl::string_view query, Dialect dialect,
                                const std::optional<QuerySpan>& span) {
  if (query.size() > kMaxQueryBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the query is longer than ", kMaxQueryBytes, " bytes"));
  }
  return Parser(query, dialect, span, room).Run();
}

}  // namespace

int Precedence(absl::string_view op) {
  if (op == "or") return 1;
  if (op == "and" || op == "unless") return 2;
  if (IsComparison(op)) return 3;
  if (op == "+" || op == "-") return 4;
  if (op == "*" || op == "/" || op == "%" || op == "atan2") return 5;
  if (op == "^") return kPowerPrecedence;
  return 0;
}

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

absl::StatusOr<ExprPtr> Parser::Run() {
  if (Peek().kind == TokenKind::kEnd) return Error(0, "no expression found in input");
  ASSIGN_OR_RETURN(ExprPtr expr, ParseExpr(1));
  if (Peek().kind != TokenKind::kEnd) return Unexpected();
  if (auto error = CheckTypes(expr.get())) return Error(error->at, error->text);
  return expr;
}

absl::StatusOr<ExprPtr> Parser::ParseExpr(int min_precedence) {
  const Nesting nesting(&nesting_);
  if (nesting_ > kMaxNesting) return Error(Peek().at, TooDeep());
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
    case TokenKind::kDuration: return ParseNumberLiteral();
    case TokenKind::kString: {
      ASSIGN_OR_RETURN(std::string value, Unquote(Take().text));
      return Make(token.at, StringLiteral{std::move(value)});
    }
    case TokenKind::kLeftParen: return ParseParen();
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
    case TokenKind::kLeftBrace: return ParseSelector();
    case TokenKind::kKeyword:
      if (token.word == "by" || token.word == "without" || token.word == "offset" ||
          token.word == "start" || token.word == "end") {
        return ParseSelector();
      }
      return Unexpected();
    case TokenKind::kOperator:
      if (IsSetOperator(token.word)) return ParseSelector();
      return Unexpected();
    default: return Unexpected();
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

// True also if the lexer has failed, since its error is better than "no expression".
bool Parser::PeekExprStart() const {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kOperator: return PeekSign() || IsSetOperator(token.word);
    case TokenKind::kKeyword:
      return token.word != "on" && token.word != "ignoring" && token.word != "bool" &&
             token.word != "group_left" && token.word != "group_right";
    case TokenKind::kRightParen:
    case TokenKind::kRightBrace:
    case TokenKind::kLeftBracket:
    case TokenKind::kRightBracket:
    case TokenKind::kComma:
    case TokenKind::kAssign:
    case TokenKind::kColon:
    case TokenKind::kEnd: return false;
    default: return true;
  }
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
    if (!PeekExprStart()) {
      return Error(comma_at, "trailing commas not allowed in function call args");
    }
  }
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

  if (Peek().kind == TokenKind::kError) return Unexpected();
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

absl::StatusOr<ExprPtr> Parse(absl::string_view query, Dialect dialect) {
  RegexRoom room;
  return ParseIn(room, query, dialect, std::nullopt);
}

absl::StatusOr<ExprPtr> ParseFor(const QuerySpan& span, absl::string_view query, Dialect dialect) {
  RegexRoom room;
  return ParseIn(room, query, dialect, span);
}

absl::StatusOr<Selector> ParseSeriesSelector(absl::string_view query, Dialect dialect,
                                             RegexRoom* room) {
  RegexRoom its_own;
  ASSIGN_OR_RETURN(ExprPtr expr,
                   ParseIn(room == nullptr ? its_own : *room, query, dialect, std::nullopt));
  auto* selector = std::get_if<Selector>(&expr->node);
  if (selector == nullptr || selector->range_ms > 0 || selector->shift.offset_ms != 0 ||
      selector->shift.at != TimeShift::At::kNone) {
    return absl::InvalidArgumentError(
        absl::StrCat("1:1: parse error: expected a series selector, got ", Quote(query)));
  }
  return std::move(*selector);
}

}  // namespace flyball::promql
