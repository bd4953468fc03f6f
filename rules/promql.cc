#include "rules/promql.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/regexp.h"
#include "base/go/text.h"

namespace flyball::rules {
namespace {

using Op = LabelRequirement::Op;

// PromQL's operator for one of Kubernetes; nullopt: it has none, or `values` does not suit it.
std::optional<absl::string_view> MatcherOperator(Op op, size_t values) {
  switch (op) {
    case Op::kExists:
      if (values == 0) return "!=";
      break;
    case Op::kDoesNotExist:
      if (values == 0) return "=";
      break;
    case Op::kEquals:
      if (values > 0) return values == 1 ? "=" : "=~";
      break;
    case Op::kNotEquals:
      if (values > 0) return values == 1 ? "!=" : "!~";
      break;
    case Op::kIn:
      if (values > 0) return "=~";
      break;
    case Op::kNotIn:
      if (values > 0) return "!~";
      break;
    case Op::kGreaterThan:
    case Op::kLessThan:
      break;
  }
  return std::nullopt;
}

}  // namespace

void MatcherList::Add(absl::string_view label, absl::string_view op, absl::string_view text) {
  matchers_.push_back(absl::StrCat(label, op, go::Quote(text)));
}

absl::Status MatcherList::AddRequirement(const LabelRequirement& requirement) {
  if (requirement.key.empty()) return absl::InvalidArgumentError("a selector term without a label");
  const auto op = MatcherOperator(requirement.op, requirement.values.size());
  if (!op) {
    return absl::InvalidArgumentError(
        absl::StrCat("the selector term on \"", requirement.key,
                     "\" has an operator, or a number of values, that PromQL has no matcher for"));
  }
  // Values are not escaped: a selector may pass a pattern on.
  const std::string value = absl::StrJoin(requirement.values, "|");
  Add(requirement.key, *op, value);
  values_by_name_[requirement.key] = value;
  return absl::OkStatus();
}

void MatcherList::AddEqual(absl::string_view label, absl::string_view value) {
  Add(label, "=", value);
  values_by_name_[std::string(label)] = std::string(value);
}

void MatcherList::AddNames(absl::string_view label, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() <= 1) return AddEqual(label, names.empty() ? "" : names.front());
  std::vector<std::string> patterns;
  patterns.reserve(names.size());
  for (const std::string& name : names) patterns.push_back(go::QuoteMeta(name));
  Add(label, "=~", absl::StrJoin(patterns, "|"));
  values_by_name_[std::string(label)] = absl::StrJoin(names, "|");
}

std::string MatcherList::Join() const { return absl::StrJoin(matchers_, ","); }

}  // namespace flyball::rules
