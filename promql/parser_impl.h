// The recursive descent behind parser.h, one file for each part of the grammar.
//
// Not thread-safe; one for each query.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "promql/ast.h"
#include "promql/lexer.h"
#include "promql/matcher.h"
#include "promql/parser.h"
#include "promql/query_span.h"

namespace flyball::promql {

inline constexpr int kPowerPrecedence = 6;

// How strongly an operator binds; 0: not a binary operator. Unary signs bind like `*`.
int Precedence(absl::string_view op);

class Parser {
 public:
  // `query` of kMaxQueryBytes at most. `room` outlives it.
  Parser(absl::string_view query, Dialect dialect, const std::optional<QuerySpan>& span,
         RegexRoom& room)
      : query_(query), dialect_(dialect), span_(span), regex_room_(room), tokens_(Lex(query)) {}

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
  // The error for a next token that does not belong here.
  absl::Status Unexpected(absl::string_view context = "", absl::string_view expected = "") const;
  static std::string TooDeep() {
    return absl::StrCat("the expression is nested more than ", kMaxNesting, " levels deep");
  }
  // Makes `node` an expression with its position and depth.
  template <typename Node>
  absl::StatusOr<ExprPtr> Make(size_t at, Node node, int child_depth = 0) const;

  bool PeekExprStart() const;
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
  absl::StatusOr<double> ParseSpanFunction();

  const absl::string_view query_;
  const Dialect dialect_;
  const std::optional<QuerySpan> span_;
  RegexRoom& regex_room_;
  const std::vector<Token> tokens_;
  size_t next_ = 0;
  int nesting_ = 0;
};

struct TypeError {
  size_t at = 0;  // byte offset in the query
  std::string text;
};

// Applies the type rules of PromQL to a whole tree that was read without error. Returns the first
// violation in reading order, innermost first. Also completes the tree: set operators become
// many-to-many. Source: Prometheus 2.42.0 promql/parser/parse.go.
std::optional<TypeError> CheckTypes(Expr* expr);

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

template <typename Node>
absl::StatusOr<ExprPtr> Parser::Make(size_t at, Node node, int child_depth) const {
  if (child_depth >= kMaxNesting) return Error(at, TooDeep());
  auto expr = std::make_unique<Expr>();
  expr->node = std::move(node);
  expr->at = at;
  expr->depth = child_depth + 1;
  return expr;
}

}  // namespace flyball::promql
