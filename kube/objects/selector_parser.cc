// Selector::Parse: text -> tokens -> requirements.
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/text.h"
#include "base/status_macros.h"
#include "kube/objects/label_syntax.h"
#include "kube/objects/selector.h"

namespace flyball::kube {
namespace {

enum class Token {
  kError,
  kEnd,
  kCloseParen,
  kComma,
  kNot,
  kDoubleEquals,
  kEquals,
  kGreaterThan,
  kWord,
  kIn,
  kLessThan,
  kNotEquals,
  kNotIn,
  kOpenParen
};

struct Lexeme {
  Token token = Token::kEnd;
  absl::string_view text;  // of what is parsed
};

Token SymbolToken(absl::string_view text) {
  static constexpr std::pair<absl::string_view, Token> kSymbols[] = {
      {")", Token::kCloseParen}, {",", Token::kComma},         {"!", Token::kNot},
      {"=", Token::kEquals},     {"==", Token::kDoubleEquals}, {">", Token::kGreaterThan},
      {"<", Token::kLessThan},   {"!=", Token::kNotEquals},    {"(", Token::kOpenParen}};
  for (const auto& [symbol, token] : kSymbols) {
    if (symbol == text) return token;
  }
  return Token::kError;
}

bool IsSymbol(char c) { return absl::StrContains("=!(),><", c); }
bool IsSpace(char c) { return absl::StrContains(" \t\r\n", c); }

// A NUL byte ends a word, and ends the text where a token should start, as upstream's lexer has it.
class Lexer {
 public:
  explicit Lexer(absl::string_view text) : rest_(text) {}

  Lexeme Next() {
    while (!rest_.empty() && IsSpace(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() == '\0') return {Token::kEnd, ""};
    return IsSymbol(rest_.front()) ? NextSymbol() : NextWord();
  }

 private:
  Lexeme NextSymbol() {
    const size_t longest = rest_.size() >= 2 ? 2 : 1;
    for (size_t size = longest; size > 0; --size) {
      const absl::string_view text = rest_.substr(0, size);
      const Token token = SymbolToken(text);
      if (token == Token::kError) continue;
      rest_.remove_prefix(size);
      return {token, text};
    }
    return {Token::kError, ""};  // every single symbol is a token
  }

  Lexeme NextWord() {
    size_t size = 0;
    while (size < rest_.size() && !IsSymbol(rest_[size]) && !IsSpace(rest_[size]) &&
           rest_[size] != '\0') {
      ++size;
    }
    const absl::string_view text = rest_.substr(0, size);
    if (size < rest_.size() && rest_[size] == '\0') ++size;
    rest_.remove_prefix(size);
    const Token token =
        text == "in" ? Token::kIn : (text == "notin" ? Token::kNotIn : Token::kWord);
    return {token, text};
  }

  absl::string_view rest_;
};

class Parser {
 public:
  explicit Parser(absl::string_view text) : lexer_(text), next_(lexer_.Next()) {}

  absl::StatusOr<std::vector<Requirement>> Run() {
    std::vector<Requirement> requirements;
    if (Peek() == Token::kEnd) return requirements;
    if (!StartsRequirement()) return Unexpected(", expected: !, identifier, or 'end of string'");
    while (true) {
      absl::StatusOr<Requirement> requirement = ParseRequirement();
      if (!requirement.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("unable to parse requirement: ", requirement.status().message()));
      }
      requirements.push_back(*std::move(requirement));
      if (Peek() == Token::kEnd) return requirements;
      if (Peek() != Token::kComma) return Unexpected(", expected: ',' or 'end of string'");
      Take();
      if (!StartsRequirement()) return Unexpected(", expected: identifier after ','");
    }
  }

 private:
  // `in` and `notin` are words everywhere but in the operator's place.
  Token Peek() const {
    return next_.token == Token::kIn || next_.token == Token::kNotIn ? Token::kWord : next_.token;
  }
  absl::string_view PeekText() const { return next_.text; }
  // Nothing is read beyond what is wrong; the end is never passed.
  std::string Take() {
    const Lexeme taken = next_;
    if (taken.token != Token::kEnd) next_ = lexer_.Next();
    return std::string(taken.text);
  }

  bool StartsRequirement() const { return Peek() == Token::kWord || Peek() == Token::kNot; }

  absl::Status Unexpected(absl::string_view expected) const {
    return absl::InvalidArgumentError(absl::StrCat("found '", PeekText(), "'", expected));
  }

  absl::StatusOr<Requirement> ParseRequirement() {
    const bool negated = Peek() == Token::kNot;
    if (negated) Take();
    if (Peek() != Token::kWord) return Unexpected(", expected: identifier");
    const std::string key = Take();
    if (const auto problems = LabelKeyProblems(key); !problems.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("<nil>: Invalid value: ", go::Quote(key), ": ",
                                                     absl::StrJoin(problems, "; ")));
    }
    if (negated) return MakeRequirement(key, Operator::kDoesNotExist, {});
    if (Peek() == Token::kEnd || Peek() == Token::kComma) {
      return MakeRequirement(key, Operator::kExists, {});
    }
    ASSIGN_OR_RETURN(const Operator op, ParseOperator());
    std::set<std::string> values;
    if (op == Operator::kIn || op == Operator::kNotIn) {
      ASSIGN_OR_RETURN(values, ParseSet());
    } else {
      ASSIGN_OR_RETURN(values, ParseExactValue());
    }
    return MakeRequirement(key, op, {values.begin(), values.end()});
  }

  absl::StatusOr<Operator> ParseOperator() {
    Operator op;
    switch (next_.token) {
      case Token::kIn:
        op = Operator::kIn;
        break;
      case Token::kNotIn:
        op = Operator::kNotIn;
        break;
      case Token::kEquals:
        op = Operator::kEquals;
        break;
      case Token::kDoubleEquals:
        op = Operator::kDoubleEquals;
        break;
      case Token::kNotEquals:
        op = Operator::kNotEquals;
        break;
      case Token::kGreaterThan:
        op = Operator::kGreaterThan;
        break;
      case Token::kLessThan:
        op = Operator::kLessThan;
        break;
      default:
        return Unexpected(", expected: in, notin, =, ==, !=, gt, lt");
    }
    Take();
    return op;
  }

  absl::StatusOr<std::set<std::string>> ParseExactValue() {
    if (Peek() == Token::kEnd || Peek() == Token::kComma) return std::set<std::string>{""};
    if (Peek() != Token::kWord) return Unexpected(", expected: identifier");
    return std::set<std::string>{Take()};
  }

  absl::StatusOr<std::set<std::string>> ParseSet() {
    if (Peek() != Token::kOpenParen) return Unexpected(" expected: '('");
    Take();
    if (Peek() == Token::kCloseParen) {
      Take();
      return std::set<std::string>{""};
    }
    if (Peek() != Token::kWord && Peek() != Token::kComma) {
      return Unexpected(", expected: ',', ')' or identifier");
    }
    ASSIGN_OR_RETURN(std::set<std::string> values, ParseSetMembers());
    Take();  // the closing parenthesis
    return values;
  }

  // Up to the closing parenthesis. Nothing between two commas, or at an end, is the empty string;
  // upstream eats the second of two commas, so that after it a further one may follow a word.
  absl::StatusOr<std::set<std::string>> ParseSetMembers() {
    std::set<std::string> values;
    while (true) {
      if (Peek() == Token::kWord) {
        values.insert(Take());
        if (Peek() == Token::kCloseParen) return values;
        if (Peek() != Token::kComma) return Unexpected(", expected: ',' or ')'");
      } else if (Peek() == Token::kComma) {
        Take();
        if (values.empty()) values.insert("");
        if (Peek() == Token::kCloseParen) {
          values.insert("");
          return values;
        }
        if (Peek() == Token::kComma) {
          Take();
          values.insert("");
        }
      } else {
        return Unexpected(", expected: ',', or identifier");
      }
    }
  }

  Lexer lexer_;
  Lexeme next_;
};

}  // namespace

absl::StatusOr<Selector> Selector::Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Requirement> requirements, Parser(text).Run());
  return Selector(std::move(requirements));
}

}  // namespace flyball::kube
