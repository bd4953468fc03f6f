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

bool IsSymbol(char c) { return absl::StrContains("=!(),><", c); }
bool IsSpace(char c) { return absl::StrContains(" \t\r\n", c); }
bool IsWord(absl::string_view token) { return !token.empty() && !IsSymbol(token.front()); }

// Cuts the next token off `rest`: a symbol, a word, or "" at the end. A NUL byte behind a token is
// swallowed, and ends the text where a token should start, as in upstream's lexer.
absl::string_view NextToken(absl::string_view& rest) {
  while (!rest.empty() && IsSpace(rest.front())) rest.remove_prefix(1);
  if (rest.empty() || rest.front() == '\0') return "";
  size_t size = absl::StartsWith(rest, "==") || absl::StartsWith(rest, "!=") ? 2 : 1;
  if (!IsSymbol(rest.front())) {
    while (size < rest.size() && !IsSymbol(rest[size]) && !IsSpace(rest[size]) &&
           rest[size] != '\0') {
      ++size;
    }
  }
  const absl::string_view token = rest.substr(0, size);
  rest.remove_prefix(size < rest.size() && rest[size] == '\0' ? size + 1 : size);
  return token;
}

class Parser {
 public:
  Parser(absl::string_view text, LabelRules rules)
      : rules_(rules), rest_(text), next_(NextToken(rest_)) {}

  absl::StatusOr<std::vector<Requirement>> Run() {
    std::vector<Requirement> requirements;
    if (next_.empty()) return requirements;
    if (!StartsRequirement()) return Unexpected(", expected: !, identifier, or 'end of string'");
    while (true) {
      absl::StatusOr<Requirement> requirement = ParseRequirement();
      if (!requirement.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("unable to parse requirement: ", requirement.status().message()));
      }
      requirements.push_back(*std::move(requirement));
      if (next_.empty()) return requirements;
      if (next_ != ",") return Unexpected(", expected: ',' or 'end of string'");
      Take();
      if (!StartsRequirement()) return Unexpected(", expected: identifier after ','");
    }
  }

 private:
  // Nothing is read beyond a token that is wrong, and the end is never passed.
  std::string Take() {
    const absl::string_view taken = next_;
    if (!taken.empty()) next_ = NextToken(rest_);
    return std::string(taken);
  }

  bool StartsRequirement() const { return IsWord(next_) || next_ == "!"; }

  absl::Status Unexpected(absl::string_view expected) const {
    return absl::InvalidArgumentError(absl::StrCat("found '", next_, "'", expected));
  }

  absl::StatusOr<Requirement> ParseRequirement() {
    const bool negated = next_ == "!";
    if (negated) Take();
    if (!IsWord(next_)) return Unexpected(", expected: identifier");
    const std::string key = Take();
    if (const auto problems = LabelKeyProblems(key, rules_); !problems.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("<nil>: Invalid value: ", go::Quote(key), ": ",
                                                     absl::StrJoin(problems, "; ")));
    }
    if (negated) return MakeRequirement(key, Operator::kDoesNotExist, {}, rules_);
    if (next_.empty() || next_ == ",") return MakeRequirement(key, Operator::kExists, {}, rules_);
    ASSIGN_OR_RETURN(const Operator op, ParseOperator());
    std::set<std::string> values;
    if (op == Operator::kIn || op == Operator::kNotIn) {
      ASSIGN_OR_RETURN(values, ParseSet());
    } else {
      ASSIGN_OR_RETURN(values, ParseExactValue());
    }
    return MakeRequirement(key, op, {values.begin(), values.end()}, rules_);
  }

  // `in` and `notin` are words like others everywhere but in the operator's place.
  absl::StatusOr<Operator> ParseOperator() {
    static constexpr std::pair<absl::string_view, Operator> kOperators[] = {
        {"in", Operator::kIn},        {"notin", Operator::kNotIn},
        {"=", Operator::kEquals},     {"==", Operator::kDoubleEquals},
        {"!=", Operator::kNotEquals}, {">", Operator::kGreaterThan},
        {"<", Operator::kLessThan}};
    for (const auto& [text, op] : kOperators) {
      if (next_ != text) continue;
      Take();
      return op;
    }
    return Unexpected(", expected: in, notin, =, ==, !=, gt, lt");
  }

  absl::StatusOr<std::set<std::string>> ParseExactValue() {
    if (next_.empty() || next_ == ",") return std::set<std::string>{""};
    if (!IsWord(next_)) return Unexpected(", expected: identifier");
    return std::set<std::string>{Take()};
  }

  absl::StatusOr<std::set<std::string>> ParseSet() {
    if (next_ != "(") return Unexpected(" expected: '('");
    Take();
    if (next_ == ")") {
      Take();
      return std::set<std::string>{""};
    }
    if (!IsWord(next_) && next_ != ",") return Unexpected(", expected: ',', ')' or identifier");
    ASSIGN_OR_RETURN(std::set<std::string> values, ParseSetMembers());
    Take();  // the closing parenthesis
    return values;
  }

  // Reads up to the closing parenthesis. Nothing between two commas, or at either end, counts as
  // the empty string. Up to 1.34 upstream consumes the second of two commas, so that after a word
  // another comma may follow, but no closing parenthesis.
  absl::StatusOr<std::set<std::string>> ParseSetMembers() {
    std::set<std::string> values;
    while (true) {
      if (IsWord(next_)) {
        values.insert(Take());
        if (next_ == ")") return values;
        if (next_ != ",") return Unexpected(", expected: ',' or ')'");
      } else if (next_ == ",") {
        Take();
        if (values.empty()) values.insert("");
        if (next_ == ")") {
          values.insert("");
          return values;
        }
        if (next_ == ",") {
          if (rules_ == LabelRules::k1_34) Take();
          values.insert("");
        }
      } else {
        return Unexpected(", expected: ',', or identifier");
      }
    }
  }

  const LabelRules rules_;
  absl::string_view rest_;  // behind next_
  absl::string_view next_;  // the token that is looked at
};

}  // namespace

absl::StatusOr<Selector> Selector::Parse(absl::string_view text, LabelRules rules) {
  ASSIGN_OR_RETURN(std::vector<Requirement> requirements, Parser(text, rules).Run());
  return Selector(std::move(requirements));
}

}  // namespace flyball::kube
