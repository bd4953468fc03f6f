#include "promql/lexer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "promql/text.h"

namespace flyball::promql {
namespace {

constexpr absl::string_view kKeywords[] = {"by",         "without",     "on",   "ignoring",
                                           "group_left", "group_right", "bool", "offset",
                                           "start",      "end"};
constexpr absl::string_view kAggregations[] = {"sum",  "avg",     "count",        "min",
                                               "max",  "group",   "stddev",       "stdvar",
                                               "topk", "bottomk", "count_values", "quantile"};
constexpr absl::string_view kNamedOperators[] = {"and", "or", "unless", "atan2"};
// Two characters first.
constexpr absl::string_view kOperators[] = {"==", "!=", ">=", "<=", "=~", "!~", "+", "-",
                                            "*",  "/",  "%",  "^",  ">",  "<",  "@"};
constexpr absl::string_view kBraceOperators[] = {"=~", "!=", "!~"};

template <typename List>
bool Contains(const List& list, absl::string_view word) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

bool IsNameByte(char c) { return absl::ascii_isalnum(c) || c == '_'; }

class Lexer {
 public:
  explicit Lexer(absl::string_view query) : query_(query) {}

  std::vector<Token> Run() {
    while (!done_) {
      if (tokens_.size() == kMaxTokens) {
        Fail(at_, absl::StrCat("the query has more than ", kMaxTokens, " tokens"));
      } else {
        Next();
      }
    }
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < query_.size() ? query_[at_ + ahead] : '\0';
  }
  bool Accept(absl::string_view any_of) {
    if (at_ >= query_.size() || !absl::StrContains(any_of, query_[at_])) return false;
    ++at_;
    return true;
  }
  // Digits, with single underscores between them.
  void AcceptDigits(bool hexadecimal) {
    const auto digit = [hexadecimal](char c) {
      return hexadecimal ? absl::ascii_isxdigit(c) : absl::ascii_isdigit(c);
    };
    while (digit(Peek()) ||
           (Peek() == '_' && at_ > start_ && digit(query_[at_ - 1]) && digit(Peek(1)))) {
      ++at_;
    }
  }

  void Emit(TokenKind kind, std::string word = "") {
    tokens_.push_back({.kind = kind,
                       .text = query_.substr(start_, at_ - start_),
                       .at = start_,
                       .word = std::move(word)});
  }
  void Fail(size_t at, std::string error) {
    tokens_.push_back({.kind = TokenKind::kError, .at = at, .error = std::move(error)});
    done_ = true;
  }

  void Next();
  void LexEnd();
  void LexBraces();
  void LexString();
  void LexNumberOrDuration();
  bool AcceptNumber();
  bool AcceptDurationTail();
  void LexWord();
  void LexPunctuation();
  bool AcceptOneOf(const absl::string_view* begin, const absl::string_view* end);
  std::string CharacterError(absl::string_view where) const;

  const absl::string_view query_;
  size_t start_ = 0;  // of the token being read
  size_t at_ = 0;
  int parens_ = 0;
  bool in_braces_ = false;
  bool in_brackets_ = false;
  bool done_ = false;
  std::vector<Token> tokens_;
};

void Lexer::Next() {
  start_ = at_;
  if (at_ >= query_.size()) return LexEnd();
  const char c = Peek();
  if (absl::StrContains(" \t\n\r", c)) {
    ++at_;
  } else if (c == '#') {
    at_ = std::min(query_.find('\n', at_), query_.size());
  } else if (c == '"' || c == '\'' || c == '`') {
    LexString();
  } else if (in_braces_) {
    LexBraces();
  } else if (absl::ascii_isdigit(c) || (c == '.' && absl::ascii_isdigit(Peek(1)))) {
    LexNumberOrDuration();
  } else if (absl::ascii_isalpha(c) || c == '_' || (c == ':' && !in_brackets_)) {
    LexWord();
  } else {
    LexPunctuation();
  }
}

void Lexer::LexEnd() {
  if (in_braces_) return Fail(at_, "unexpected end of input inside braces");
  if (parens_ > 0) return Fail(at_, "unclosed left parenthesis");
  if (in_brackets_) return Fail(at_, "unclosed left bracket");
  Emit(TokenKind::kEnd);
  done_ = true;
}

std::string Lexer::CharacterError(absl::string_view where) const {
  const go::Rune rune = go::DecodeRune(query_.substr(at_));
  return absl::StrCat("unexpected character", where, ": '",
                      query_.substr(at_, static_cast<size_t>(rune.length)), "'");
}

void Lexer::LexBraces() {
  const char c = Peek();
  if (absl::ascii_isalpha(c) || c == '_') {
    while (IsNameByte(Peek())) ++at_;
    return Emit(TokenKind::kIdentifier);
  }
  if (AcceptOneOf(std::begin(kBraceOperators), std::end(kBraceOperators))) {
    return Emit(TokenKind::kOperator, std::string(query_.substr(start_, at_ - start_)));
  }
  if (Accept("=")) return Emit(TokenKind::kAssign);
  if (Accept(",")) return Emit(TokenKind::kComma);
  if (Accept("}")) {
    in_braces_ = false;
    return Emit(TokenKind::kRightBrace);
  }
  Fail(start_, CharacterError(" inside braces"));
}

void Lexer::LexString() {
  const char quote = query_[at_++];
  while (at_ < query_.size()) {
    const char c = query_[at_];
    if (c == quote) {
      ++at_;
      const auto value = Unquote(query_.substr(start_, at_ - start_));
      if (!value.ok()) return Fail(start_, "unknown escape sequence in string");
      return Emit(TokenKind::kString);
    }
    if (c == '\n' && quote != '`') break;
    at_ += c == '\\' && quote != '`' ? 2 : 1;
  }
  Fail(start_, quote == '`' ? "unterminated raw string" : "unterminated quoted string");
}

bool Lexer::AcceptNumber() {
  const bool hexadecimal =
      Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X') && absl::ascii_isxdigit(Peek(2));
  if (hexadecimal) at_ += 2;
  AcceptDigits(hexadecimal);
  if (!hexadecimal) {
    if (Accept(".")) AcceptDigits(false);
    if (Accept("eE")) {
      Accept("+-");
      AcceptDigits(false);
    }
  }
  return !IsNameByte(Peek());
}

// After the first run of digits: its unit, then further numbers with units.
bool Lexer::AcceptDurationTail() {
  do {
    if (!Accept("smhdwy")) return false;
    Accept("s");
    if (!absl::ascii_isdigit(Peek())) break;
    while (Accept("0123456789")) {
    }
  } while (true);
  return !IsNameByte(Peek());
}

void Lexer::LexNumberOrDuration() {
  if (AcceptNumber()) return Emit(TokenKind::kNumber);
  const size_t number_end = at_;
  if (AcceptDurationTail()) return Emit(TokenKind::kDuration);
  Fail(start_, absl::StrCat("bad number or duration syntax: ",
                            Quote(query_.substr(start_, number_end - start_))));
}

void Lexer::LexWord() {
  while (IsNameByte(Peek()) || (Peek() == ':' && !in_brackets_)) ++at_;
  const absl::string_view text = query_.substr(start_, at_ - start_);
  std::string word = absl::AsciiStrToLower(text);
  if (Contains(kKeywords, word)) return Emit(TokenKind::kKeyword, std::move(word));
  if (Contains(kAggregations, word)) return Emit(TokenKind::kAggregation, std::move(word));
  if (Contains(kNamedOperators, word)) return Emit(TokenKind::kOperator, std::move(word));
  if (word == "inf" || word == "nan") return Emit(TokenKind::kNumber);
  Emit(absl::StrContains(text, ':') ? TokenKind::kMetricIdentifier : TokenKind::kIdentifier);
}

bool Lexer::AcceptOneOf(const absl::string_view* begin, const absl::string_view* end) {
  for (const absl::string_view* text = begin; text != end; ++text) {
    if (!absl::StartsWith(query_.substr(at_), *text)) continue;
    at_ += text->size();
    return true;
  }
  return false;
}

void Lexer::LexPunctuation() {
  if (AcceptOneOf(std::begin(kOperators), std::end(kOperators))) {
    return Emit(TokenKind::kOperator, std::string(query_.substr(start_, at_ - start_)));
  }
  const char c = query_[at_++];
  switch (c) {
    case '(': ++parens_; return Emit(TokenKind::kLeftParen);
    case ')':
      if (--parens_ < 0) return Fail(at_, "unexpected right parenthesis ')'");
      return Emit(TokenKind::kRightParen);
    case '{': in_braces_ = true; return Emit(TokenKind::kLeftBrace);
    case '[':
      if (in_brackets_) return Fail(start_, "unexpected left bracket '['");
      in_brackets_ = true;
      return Emit(TokenKind::kLeftBracket);
    case ']':
      if (!in_brackets_) return Fail(start_, "unexpected right bracket ']'");
      in_brackets_ = false;
      return Emit(TokenKind::kRightBracket);
    case ',': return Emit(TokenKind::kComma);
    case '=': return Emit(TokenKind::kAssign);
    case ':': return Emit(TokenKind::kColon);
    default: --at_; return Fail(start_, CharacterError(""));
  }
}

}  // namespace

std::string Token::Describe() const {
  if (kind == TokenKind::kEnd) return "end of input";
  if (kind == TokenKind::kError) return error;
  if (kind == TokenKind::kKeyword) return absl::StrCat("<", text, ">");
  if (kind == TokenKind::kAggregation) return absl::StrCat("<aggr:", text, ">");
  if (kind == TokenKind::kOperator) return absl::StrCat("<op:", text, ">");
  static constexpr std::pair<TokenKind, absl::string_view> kNames[] = {
      {TokenKind::kIdentifier, "identifier "},
      {TokenKind::kMetricIdentifier, "metric identifier "},
      {TokenKind::kNumber, "number "},
      {TokenKind::kDuration, "duration "},
      {TokenKind::kString, "string "}};
  for (const auto& [named, name] : kNames) {
    if (named == kind) return absl::StrCat(name, Quote(text));
  }
  return Quote(text);
}

std::vector<Token> Lex(absl::string_view query) { return Lexer(query).Run(); }

}  // namespace flyball::promql
