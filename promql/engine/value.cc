#include "promql/engine/value.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"

namespace flyball::promql {
namespace {

auto Find(LabelSet& labels, absl::string_view name) {
  return std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const auto& label, absl::string_view wanted) { return label.first < wanted; });
}

}  // namespace

absl::Status SameLabelSet() {
  return absl::FailedPreconditionError("vector cannot contain metrics with the same labelset");
}

absl::Status CheckDistinct(const Vector& vector) {
  if (vector.size() < 2) return absl::OkStatus();
  absl::flat_hash_set<LabelSet> seen;
  seen.reserve(vector.size());
  for (const Element& element : vector) {
    if (seen.insert(element.labels).second) continue;
    return SameLabelSet();
  }
  return absl::OkStatus();
}

void DropLabel(LabelSet* labels, absl::string_view name) {
  const auto at = Find(*labels, name);
  if (at != labels->end() && at->first == name) labels->erase(at);
}

void SetLabel(LabelSet* labels, absl::string_view name, absl::string_view value) {
  if (value.empty()) return DropLabel(labels, name);
  const auto at = Find(*labels, name);
  if (at != labels->end() && at->first == name) {
    at->second = std::string(value);
  } else {
    labels->emplace(at, std::string(name), std::string(value));
  }
}

LabelSet PickLabels(const LabelSet& labels, const std::vector<std::string>& names, bool without) {
  LabelSet picked;
  for (const auto& label : labels) {
    const bool named = std::find(names.begin(), names.end(), label.first) != names.end();
    if (named != without) picked.push_back(label);
  }
  return picked;
}

}  // namespace flyball::promql
