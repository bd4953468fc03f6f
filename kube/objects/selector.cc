#include "kube/objects/selector.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/number.h"
#include "base/go/text.h"

namespace flyball::kube {
namespace {

// Upstream names each wrong value. If there are thousands of them, only the first few are named
// here.
constexpr size_t kMaxProblems = 8;

bool Contains(const std::vector<std::string>& values, const std::string& value) {
  return std::binary_search(values.begin(), values.end(), value);
}

bool ComparesTo(const Requirement& requirement, const std::string& label) {
  if (requirement.values.size() != 1) return false;
  const std::optional<int64_t> have = go::ParseDecimal(label);
  const std::optional<int64_t> limit = go::ParseDecimal(requirement.values[0]);
  if (!have.has_value() || !limit.has_value()) return false;
  return requirement.op == Operator::kGreaterThan ? *have > *limit : *have < *limit;
}

// As JSON.
std::string ListText(const std::vector<std::string>& values) {
  if (values.empty()) return "null";
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    go::AppendJsonString(value, &out);
  }
  return out + "]";
}

// Adds what is wrong with the number of values, or with values that should be integers.
void CheckValueCount(Operator op, const std::vector<std::string>& values,
                     std::vector<std::string>* problems) {
  const auto add = [&](absl::string_view why) {
    problems->push_back(absl::StrCat("values: Invalid value: ", ListText(values), ": ", why));
  };
  switch (op) {
    case Operator::kIn:
    case Operator::kNotIn:
      if (values.empty()) add("for 'in', 'notin' operators, values set can't be empty");
      return;
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kNotEquals:
      if (values.size() != 1) add("exact-match compatibility requires one single value");
      return;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      if (!values.empty()) add("values set must be empty for exists and does not exist");
      return;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      if (values.size() != 1) add("for 'Gt', 'Lt' operators, exactly one value is required");
      for (size_t i = 0; i < values.size() && problems->size() < kMaxProblems; ++i) {
        if (go::ParseDecimal(values[i]).has_value()) continue;
        problems->push_back(absl::StrCat("values[", i, "]: Invalid value: ", go::Quote(values[i]),
                                         ": for 'Gt', 'Lt' operators, the value must be an "
                                         "integer"));
      }
  }
}

std::string RequirementText(const Requirement& requirement) {
  const std::string& key = requirement.key;
  const std::string values = absl::StrJoin(requirement.values, ",");
  switch (requirement.op) {
    case Operator::kExists: return key;
    case Operator::kDoesNotExist: return absl::StrCat("!", key);
    case Operator::kIn: return absl::StrCat(key, " in (", values, ")");
    case Operator::kNotIn: return absl::StrCat(key, " notin (", values, ")");
    case Operator::kGreaterThan: return absl::StrCat(key, ">", values);
    case Operator::kLessThan: return absl::StrCat(key, "<", values);
    case Operator::kEquals: return absl::StrCat(key, "=", values);
    case Operator::kDoubleEquals: return absl::StrCat(key, "==", values);
    case Operator::kNotEquals: return absl::StrCat(key, "!=", values);
  }
  return "";
}

}  // namespace

bool Requirement::Matches(const Labels& labels) const {
  const auto found = labels.find(key);
  const bool present = found != labels.end();
  switch (op) {
    case Operator::kIn:
    case Operator::kEquals:
    case Operator::kDoubleEquals: return present && Contains(values, found->second);
    case Operator::kNotIn:
    case Operator::kNotEquals: return !present || !Contains(values, found->second);
    case Operator::kExists: return present;
    case Operator::kDoesNotExist: return !present;
    case Operator::kGreaterThan:
    case Operator::kLessThan: return present && ComparesTo(*this, found->second);
  }
  return false;
}

absl::StatusOr<Requirement> MakeRequirement(absl::string_view key, Operator op,
                                            std::vector<std::string> values, LabelRules rules) {
  std::vector<std::string> problems;
  const auto add = [&](absl::string_view where, absl::string_view what,
                       const std::vector<std::string>& why) {
    if (why.empty()) return;
    problems.push_back(
        absl::StrCat(where, ": Invalid value: ", go::Quote(what), ": ", absl::StrJoin(why, "; ")));
  };
  add("key", key, LabelKeyProblems(key, rules));
  CheckValueCount(op, values, &problems);
  for (size_t i = 0; i < values.size() && problems.size() < kMaxProblems; ++i) {
    add(absl::StrCat("values[", i, "][", key, "]"), values[i],
        LabelValueProblems(values[i], rules));
  }
  if (problems.size() == 1) return absl::InvalidArgumentError(problems[0]);
  if (!problems.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("[", absl::StrJoin(problems, ", "), "]"));
  }
  // Errors above name values by their original position. In the text the values are sorted, with
  // repeated ones.
  std::sort(values.begin(), values.end());
  return Requirement{.key = std::string(key), .op = op, .values = std::move(values)};
}

Selector::Selector(std::vector<Requirement> requirements) : requirements_(std::move(requirements)) {
  std::stable_sort(requirements_.begin(), requirements_.end(),
                   [](const Requirement& a, const Requirement& b) { return a.key < b.key; });
}

bool Selector::Matches(const Labels& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) { return requirement.Matches(labels); });
}

std::string Selector::ToString() const {
  return absl::StrJoin(requirements_, ",", [](std::string* out, const Requirement& requirement) {
    absl::StrAppend(out, RequirementText(requirement));
  });
}

}  // namespace flyball::kube
