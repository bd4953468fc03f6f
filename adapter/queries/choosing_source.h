// Two metric sources as one: the live source answers what it can, Prometheus everything else. The
// live source cannot answer a query whose window it does not have in full, one with a selector for
// which no series gets samples there, or one that it does not understand.
//
// Thread-safe as both are. Series are those of both: if one of the two fails the list fails, so
// that the registry keeps what it knows. Prometheus is asked for a list of series once in a relist
// interval, however often the live source has new series and is asked again.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/queries/metric_source.h"
#include "base/clock.h"

namespace flyball::adapter {

class ChoosingSource : public MetricSource {
 public:
  // How many of Prometheus's lists are remembered.
  static constexpr size_t kMaxLists = 10'000;

  // All outlive it. `live` must refuse what it has not received (LiveOptions::refuses_unseen).
  ChoosingSource(MetricSource& live, MetricSource& prometheus, Clock& clock,
                 absl::Duration relist_interval)
      : live_(live), prometheus_(prometheus), clock_(clock), relist_interval_(relist_interval) {}

  // Errors are those of Prometheus.
  absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql, absl::Time at,
                                                           absl::Duration timeout) override;
  absl::StatusOr<StandingResult> Ask(StandingQuery& query, absl::Time at,
                                     absl::Duration timeout) override;
  absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector, absl::Time start,
                                                 absl::Duration timeout) override;

  // True if the live source reports samples. Then queries are not merged for Prometheus either,
  // since it is not known beforehand which of the two will answer a query.
  bool TellsOfSamples() const override { return live_.TellsOfSamples(); }

  MetricSource& Of(rules::SourceChoice choice) override;

 private:
  using SeriesNames = std::shared_ptr<const std::vector<SeriesName>>;
  // Prometheus's last list for a selector.
  struct List {
    MonotonicTime asked;
    SeriesNames names;
  };

  absl::StatusOr<SeriesNames> SeriesOfPrometheus(absl::string_view selector, absl::Time start,
                                                 absl::Duration timeout);
  SeriesNames Remembered(absl::string_view selector, MonotonicTime now) const
      ABSL_LOCKS_EXCLUDED(mutex_);

  MetricSource& live_;
  MetricSource& prometheus_;
  Clock& clock_;
  const absl::Duration relist_interval_;
  mutable absl::Mutex mutex_;
  std::map<std::string, List, std::less<>> lists_ ABSL_GUARDED_BY(mutex_);  // by selector
};

}  // namespace flyball::adapter
