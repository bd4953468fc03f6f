#include "adapter/metric_source.h"

#include <algorithm>

#include "base/status_macros.h"

namespace flyball::adapter {

absl::string_view LabelValue(const LabelSet& labels, absl::string_view name) {
  const auto it = std::lower_bound(
      labels.begin(), labels.end(), name,
      [](const auto& label, absl::string_view wanted) { return label.first < wanted; });
  if (it == labels.end() || it->first != name) return "";
  return it->second;
}

const std::string& StandingQuery::Encoded(std::string (*encode)(absl::string_view)) {
  if (encoded_.empty()) encoded_ = encode(promql);
  return encoded_;
}

absl::StatusOr<StandingResult> MetricSource::Ask(StandingQuery& query, absl::Time at,
                                                 absl::Duration timeout) {
  ASSIGN_OR_RETURN(std::shared_ptr<const QueryResult> result, Query(query.promql, at, timeout));
  return StandingResult{.result = std::move(result)};
}

}  // namespace flyball::adapter
