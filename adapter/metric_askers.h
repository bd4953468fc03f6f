// Which HorizontalPodAutoscalers ask for an external metric. Rules with onFailure need it, since a
// request to a metrics API does not say for which HPA it is.
//
// Called only while a source fails, on the thread of the request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapter/provider.h"

namespace flyball::adapter {

struct MetricAsker {
  std::string name;  // "shop/web"
  // The metric's target in the HPA: one of the two is set.
  std::optional<int64_t> average_milli = {}, value_milli = {};
  int32_t min = 0, max = 0;
  int32_t spec_replicas = 0, status_replicas = 0;  // present replicas of its scale target
};

class MetricAskers {
 public:
  virtual ~MetricAskers() = default;
  // The HPAs with a metric of that name and selector in that namespace. An error says why they are
  // not known; its text is the same each time, since it becomes part of a status.
  virtual absl::StatusOr<std::vector<MetricAsker>> Of(const ExternalMetricRequest& request) = 0;
};

}  // namespace flyball::adapter
