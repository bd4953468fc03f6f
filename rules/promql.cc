#include "rules/promql.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/go/regexp.h"
#include "base/go/text.h"

namespace flyball::rules {
namespace {

using Op = kube::Operator;

// PromQL's operator for Kubernetes' one; nullopt: there is none, or `values` does not fit it.
std::optional<absl::string_view> MatcherOperator(Op op, size_t values) {
  const bool wants_values = op != Op::kExists && op != Op::kDoesNotExist;
  if (wants_values != (values > 0)) return std::nullopt;
  switch (op) {
    case Op::kExists: return "!=";
    case Op::kDoesNotExist: return "=";
    case Op::kEquals:
    case Op::kDoubleEquals: return values == 1 ? "=" : "=~";
    case Op::kNotEquals: return values == 1 ? "!=" : "!~";
    case Op::kIn: return "=~";
    case Op::kNotIn: return "!~";
    default:  // > and <
      return std::nullopt;
  }
}

}  // namespace

void MatcherList::Add(absl::string_view label, absl::string_view op, absl::string_view text) {
  matchers_.push_back(absl::StrCat(label, op, go::Quote(text)));
}

absl::Status MatcherList::AddRequirement(const kube::Requirement& requirement) {
  if (requirement.key.empty()) return absl::InvalidArgumentError("a selector term without a label");
  // The values are a set, so repeated ones count once.
  std::vector<std::string> values = requirement.values;
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const auto op = MatcherOperator(requirement.op, values.size());
  if (!op) {
    return absl::InvalidArgumentError(
        absl::StrCat("the selector term on \"", requirement.key,
                     "\" has an operator, or a number of values, that PromQL has no matcher for"));
  }
  // Values are not escaped: a selector may pass a pattern on.
  const std::string value = absl::StrJoin(values, "|");
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

std::string JoinedQuery(absl::string_view wanted, absl::string_view other, absl::string_view label,
                        bool nan_is_number) {
  // A comparison with NaN is false. From this value on the product with 1000, as a double, is 2^63
  // or more; that of the next lower double is not.
  const absl::string_view each = nan_is_number ? "max" : "min";
  const absl::string_view compared = nan_is_number ? ">=" : "<";
  const int none = nan_is_number ? 0 : 1;
  // Either query may end in a comment, which lasts until the end of its line.
  return absl::StrCat("(", wanted, "\n) and on (", label, ") (", each, " by (", label, ") ((",
                      other, "\n) ", compared, " bool 9223372036854776) == ", none, ")");
}

}  // namespace flyball::rules
