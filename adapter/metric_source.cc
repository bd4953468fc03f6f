#include "adapter/metric_source.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace flyball::adapter {

absl::string_view LabelValue(const LabelSet& labels, absl::string_view name) {
  const auto it = std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const auto& label, absl::string_view wanted) { return label.first < wanted; });
  if (it == labels.end() || it->first != name) return "";
  return it->second;
}

RepeatedQuery::RepeatedQuery(std::string text) : promql(std::move(text)), hash(HashOf(promql)) {}

size_t RepeatedQuery::HashOf(absl::string_view promql) {
  return absl::Hash<absl::string_view>()(promql);
}

const std::string& RepeatedQuery::Encoded(std::string (*encode)(absl::string_view)) const {
  absl::call_once(encoded_once_, [&] { encoded_ = encode(promql); });
  return encoded_;
}

}  // namespace flyball::adapter
