// external.metrics.k8s.io: the samples of a metric's query, as they come.
//
// Thread-safe, without state of its own. Source: prometheus-adapter 0.12.0, with its status texts.
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
#include "base/worker_pool.h"

namespace flyball::adapter {

// The error for a metric that is not registered.
absl::Status NoExternalMetric(const ExternalMetricRequest& request);

// Makes the list from those samples of a result that belong to the request.
absl::StatusOr<ExternalMetricList> ExternalListOf(const Answering& answering,
                                                  absl::string_view metric,
                                                  const QueryResult& result,
                                                  absl::Span<const Sample* const> samples);

class ExternalProvider : public ExternalMetricsProvider {
 public:
  // `pool` (may be nullptr) outlives the provider: for standing requests that need several queries.
  explicit ExternalProvider(const Answering& answering, WorkerPool* pool = nullptr)
      : answering_(answering), pool_(pool) {}

  absl::StatusOr<ExternalMetricList> Get(const ExternalMetricRequest& request) override;
  std::unique_ptr<StandingExternal> Stand(std::vector<ExternalMetricRequest> requests) override;
  std::shared_ptr<const std::vector<std::string>> ListAll() const override;
  uint64_t Epoch() const override;

 private:
  const Answering answering_;
  WorkerPool* const pool_;
};

}  // namespace flyball::adapter
