#include "kube/objects/label_syntax.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace flyball::kube {
namespace {

constexpr size_t kMaxNameBytes = 63;
constexpr size_t kMaxSubdomainBytes = 253;

constexpr char kNameRule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr char kValueRule[] =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr char kSubdomainRule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kDnsLabelRule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

// Whether `text` consists of characters that are `alnum` and of those in `also`, with one that is
// `alnum` at either end.
bool ConsistsOf(absl::string_view text, bool (*alnum)(unsigned char), absl::string_view also) {
  return !text.empty() && alnum(text.front()) && alnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return alnum(c) || absl::StrContains(also, c); });
}

bool IsLowerAlnum(unsigned char c) { return absl::ascii_islower(c) || absl::ascii_isdigit(c); }
bool IsDnsLabel(absl::string_view text) { return ConsistsOf(text, IsLowerAlnum, "-"); }
bool IsName(absl::string_view text) { return ConsistsOf(text, absl::ascii_isalnum, "-_."); }

// `unit` is what a thing that is too long is measured in. In all versions it is bytes.
std::string TooLong(size_t limit, absl::string_view unit = "characters") {
  return absl::StrCat("must be no more than ", limit, " ", unit);
}

absl::string_view UnitOf(LabelRules rules) {
  return rules == LabelRules::k1_34 ? "characters" : "bytes";
}

std::vector<std::string> SubdomainProblemsIn(absl::string_view text, absl::string_view unit) {
  std::vector<std::string> problems;
  if (text.size() > kMaxSubdomainBytes) problems.push_back(TooLong(kMaxSubdomainBytes, unit));
  if (!IsSubdomain(text)) problems.emplace_back(kSubdomainRule);
  return problems;
}

}  // namespace

bool IsSubdomain(absl::string_view text) {
  for (const absl::string_view label : absl::StrSplit(text, '.')) {
    if (!IsDnsLabel(label)) return false;
  }
  return true;
}

std::vector<std::string> LabelKeyProblems(absl::string_view key, LabelRules rules) {
  std::vector<std::string> problems;
  const std::vector<absl::string_view> parts = absl::StrSplit(key, '/');
  if (parts.size() > 2) {
    return {absl::StrCat(rules == LabelRules::k1_34 ? "a qualified name " : "a valid label key ",
                         kNameRule,
                         " with an optional DNS subdomain prefix and '/' (e.g. "
                         "'example.com/MyName')")};
  }
  if (parts.size() == 2) {
    const absl::string_view prefix = parts.front();
    if (prefix.empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : SubdomainProblemsIn(prefix, UnitOf(rules))) {
        problems.push_back(absl::StrCat("prefix part ", problem));
      }
    }
  }
  const absl::string_view name = parts.back();
  if (name.empty()) problems.emplace_back("name part must be non-empty");
  if (name.size() > kMaxNameBytes) {
    problems.push_back(absl::StrCat("name part ", TooLong(kMaxNameBytes, UnitOf(rules))));
  }
  if (!IsName(name)) problems.push_back(absl::StrCat("name part ", kNameRule));
  return problems;
}

std::vector<std::string> LabelValueProblems(absl::string_view value, LabelRules rules) {
  std::vector<std::string> problems;
  if (value.size() > kMaxNameBytes) problems.push_back(TooLong(kMaxNameBytes, UnitOf(rules)));
  if (!value.empty() && !IsName(value)) problems.emplace_back(kValueRule);
  return problems;
}

std::vector<std::string> SubdomainProblems(absl::string_view text) {
  return SubdomainProblemsIn(text, "characters");
}

std::vector<std::string> DnsLabelProblems(absl::string_view text) {
  std::vector<std::string> problems;
  if (text.size() > kMaxNameBytes) problems.push_back(TooLong(kMaxNameBytes));
  if (!IsDnsLabel(text)) {
    problems.emplace_back(IsSubdomain(text) ? "must not contain dots" : kDnsLabelRule);
  }
  return problems;
}

}  // namespace flyball::kube
