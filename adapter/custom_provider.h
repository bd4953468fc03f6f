// custom.metrics.k8s.io: values of objects, from the series registry, the object directory and the
// query batcher.
//
// Thread-safe, without state of its own. Source: prometheus-adapter 0.12.0, with its status texts.
//
// Errors beyond those of provider.h:
//   kNotFound   `the server could not find the metric M for R`: the metric is not registered, the
//               resource is unknown, the rule has no query for this selector, or `*` stands for no
//               object. `... M for R NAME`: the object has no sample.
//   kInternal   `unable to list matching resources` (only `*`); `unable to fetch metrics`
//   kUnknown    `"!=" is not a valid label selector operator`, only when there is an item to show
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapter/answering.h"
#include "adapter/provider.h"

namespace flyball::adapter {

class CustomProvider : public CustomMetricsProvider {
 public:
  explicit CustomProvider(const Answering& answering) : answering_(answering) {}

  absl::StatusOr<CustomMetricList> Get(const CustomMetricRequest& request) override;
  std::shared_ptr<const std::vector<CustomMetricInfo>> ListAll() const override;
  uint64_t Epoch() const override;

 private:
  // OK if the resource (nullptr: unknown) can be listed at all; determined without any request.
  absl::Status CheckListable(const CustomMetricRequest& request,
                             const kube::ResourceInfo* resource);
  // The names of the objects that a `*` request selects, sorted.
  absl::StatusOr<std::vector<std::string>> ListNames(const CustomMetricRequest& request,
                                                     const kube::ResourceInfo& resource,
                                                     MonotonicTime deadline);
  // The error for the client; the cause is logged, at a limited rate.
  absl::Status ListFailure(const CustomMetricRequest& request, const absl::Status& cause);
  absl::StatusOr<CustomMetricList> Answer(const CustomMetricRequest& request,
                                          const kube::ResourceInfo& resource,
                                          const std::vector<std::string>& names,
                                          const ObjectAnswer& values);

  const Answering answering_;
};

}  // namespace flyball::adapter
