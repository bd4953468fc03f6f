// Live: a metric source whose samples are in this process's memory.
//
// Thread-safe: queries read side by side; a writer waits for the queries under way, whose work is
// bounded by the engine's limit on points. No other thread is started. Whoever feeds it (a test
// file's series, later scraping and remote write) calls Append.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "adapter/live/store.h"
#include "adapter/metric_source.h"

namespace flyball::adapter {

class Live : public MetricSource {
 public:
  explicit Live(StoreLimits limits = {}) : store_(limits) {}

  // Errors as SampleStore::Append.
  absl::Status Append(LabelSet labels, absl::Time time, double value);

  // kInvalidArgument for whatever Prometheus would refuse or fail on, with its text, and for a
  // query over the limit. `timeout` is not needed: a query works on memory alone and is bounded.
  absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql, absl::Time at,
                                                           absl::Duration timeout) override;

  // Series with a sample at or after `start`, sorted by name and label names.
  absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector, absl::Time start,
                                                 absl::Duration timeout) override;

 private:
  absl::Mutex mutex_;
  SampleStore store_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::adapter
