// What names a series: its labels.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::promql {

// Name and value of each label, sorted by name, none of them empty; `__name__` among them.
using LabelSet = std::vector<std::pair<std::string, std::string>>;

// The value of a label; "" where it is absent, as in Prometheus.
inline absl::string_view LabelValue(const LabelSet& labels, absl::string_view name) {
  const auto at = std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const auto& label, absl::string_view wanted) { return label.first < wanted; });
  return at == labels.end() || at->first != name ? "" : absl::string_view(at->second);
}

}  // namespace flyball::promql
