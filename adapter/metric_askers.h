// Which HorizontalPodAutoscalers ask for an external metric: for rules with onFailure, since a
// request of a metrics API does not say from whom it comes.
//
// Asked while a source fails only, on the thread of the request.
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
  // Of its target: one of both.
  std::optional<int64_t> average_milli = {}, value_milli = {};
  int32_t min = 0, max = 0;
  int32_t spec_replicas = 0, status_replicas = 0;  // of its scale target, as of now
};

class MetricAskers {
 public:
  virtual ~MetricAskers() = default;
  // Those with a metric of that name and selector, in that namespace. An error says, in words that
  // a status repeats at each try, why they are not known.
  virtual absl::StatusOr<std::vector<MetricAsker>> Of(const ExternalMetricRequest& request) = 0;
};

}  // namespace flyball::adapter
