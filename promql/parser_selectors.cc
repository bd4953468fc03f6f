// Selectors, matchers and label lists of parser_impl.h.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "promql/parser_impl.h"
#include "promql/text.h"

namespace flyball::promql {

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
    if (labels.size() == kMaxNamedLabels) {
      return Error(Peek().at, absl::StrCat("a list has more than ", kMaxNamedLabels, " labels"));
    }
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
    case TokenKind::kString: return Unquote(Take().text);
    case TokenKind::kKeyword:
      if (token.word == "without") return Unexpected("grouping opts", "label");
      return std::string(Take().text);
    case TokenKind::kOperator:
      if (!IsIdentifier(token.text, false)) return Unexpected("grouping opts", "label");
      return std::string(Take().text);
    case TokenKind::kMetricIdentifier:
      if (dialect_ == Dialect::k2) return Unexpected("grouping opts", "label");
      return std::string(Take().text);
    case TokenKind::kIdentifier:
    case TokenKind::kAggregation: return std::string(Take().text);
    default: return Unexpected("grouping opts", "label");
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
  if (selector->matchers.size() == kMaxMatchers) {
    return Error(label.at, absl::StrCat("a selector has more than ", kMaxMatchers, " matchers"));
  }
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
  auto matcher = Matcher::Make(name, op, value, dialect_ == Dialect::k3, &regex_room_);
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
  ASSIGN_OR_RETURN(Matcher name, Matcher::Make("__name__", Matcher::Op::kEqual, selector->name));
  selector->matchers.push_back(std::move(name));
  return absl::OkStatus();
}

}  // namespace flyball::promql
