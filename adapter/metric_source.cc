#include "adapter/metric_source.h"

#include <algorithm>

namespace flyball::adapter {

absl::string_view LabelValue(const LabelSet& labels, absl::string_view name) {
  const auto it = std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const auto& label, absl::string_view wanted) { return label.first < wanted; });
  if (it == labels.end() || it->first != name) return "";
  return it->second;
}

}  // namespace flyball::adapter
