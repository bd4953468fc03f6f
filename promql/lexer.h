// PromQL text into tokens.
//
// Pure. Source: Prometheus 2.42.0 promql/parser/lex.go, with the newer syntax of 3.15.0 accepted
// too (durations and `_` in numbers anywhere, quoted names in braces). The whole text is read at
// once; an error ends the list as a token of its own, so that the parser reports it only if nothing
// before it is wrong. Limit: kMaxTokens, of 96 bytes each; exceeding it is such an error.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::promql {

inline constexpr size_t kMaxTokens = 100'000;

enum class TokenKind {
  kEnd,
  kError,  // `error` says why
  kIdentifier,
  kMetricIdentifier,  // with a colon in it
  kNumber,
  kDuration,
  kString,       // with its quotes
  kKeyword,      // by, without, on, ignoring, group_left, group_right, bool, offset, start, end
  kAggregation,  // sum, avg, …
  kOperator,     // + - * / % ^ == != > < >= <= =~ !~ @ and or unless atan2
  kAssign,       // =
  kLeftParen,
  kRightParen,
  kLeftBrace,
  kRightBrace,
  kLeftBracket,
  kRightBracket,
  kComma,
  kColon,  // inside brackets only
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text = {};  // as written; points into the query
  size_t at = 0;                // byte offset
  std::string word = {};  // text in lower case, for keywords, aggregations and named operators
  std::string error = {};

  bool Is(TokenKind other, absl::string_view other_word) const {
    return kind == other && word == other_word;
  }
  // The name in error texts: `identifier "b"`, `<op:+>`, `end of input`.
  std::string Describe() const;
};

// The last token is kEnd or kError. Tokens point into `query`.
std::vector<Token> Lex(absl::string_view query);

}  // namespace flyball::promql
