// Two metric sources as one: the live source answers what it can, Prometheus everything else. The
// live source cannot answer a query whose window it has not seen whole, one with a selector for
// which it never saw a series, and one that it does not understand.
//
// Thread-safe as both are. Series are those of both: if one of the two fails the list fails, so
// that the registry keeps what it knows.
#pragma once

#include <memory>
#include <vector>

#include "adapter/queries/metric_source.h"

namespace flyball::adapter {

class ChoosingSource : public MetricSource {
 public:
  // Both outlive it. `live` must refuse what it has not seen (LiveOptions::refuses_unseen).
  ChoosingSource(MetricSource& live, MetricSource& prometheus)
      : live_(live), prometheus_(prometheus) {}

  // Errors are those of Prometheus.
  absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql, absl::Time at,
                                                           absl::Duration timeout) override;
  absl::StatusOr<StandingResult> Ask(StandingQuery& query, absl::Time at,
                                     absl::Duration timeout) override;
  absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector, absl::Time start,
                                                 absl::Duration timeout) override;

  // True if the live source's answers do. Then queries are not merged for Prometheus either, since
  // which of the two answers is known only for each query by itself.
  bool TellsOfSamples() const override { return live_.TellsOfSamples(); }

  MetricSource& Of(rules::SourceChoice choice) override;

 private:
  MetricSource& live_;
  MetricSource& prometheus_;
};

}  // namespace flyball::adapter
