// external.metrics.k8s.io: the samples of a metric's query, as they come.
//
// Thread-safe; nothing of its own changes. Source: prometheus-adapter 0.12.0, status texts
// included.
//
// Errors beyond those of provider.h:
//   kNotFound   the metric is not registered
//   kInternal   `unable to fetch metrics`: the rule has no query for this, or the source failed
//   kUnknown    a result that is neither vector nor scalar, or null
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapter/answering.h"
#include "adapter/provider.h"

namespace flyball::adapter {

class ExternalProvider : public ExternalMetricsProvider {
 public:
  explicit ExternalProvider(const Answering& answering) : answering_(answering) {}

  absl::StatusOr<ExternalMetricList> Get(const ExternalMetricRequest& request) override;
  std::shared_ptr<const std::vector<std::string>> ListAll() const override;
  uint64_t Epoch() const override;

 private:
  absl::StatusOr<ExternalMetricList> Answer(const ExternalMetricRequest& request,
                                            const QueryResult& result);

  const Answering answering_;
};

}  // namespace flyball::adapter
