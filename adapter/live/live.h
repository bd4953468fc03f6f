// Live: a metric source whose samples are in this process's memory.
//
// Thread-safe, without a lock of its own: the store is, and whoever feeds it (a test file's series,
// scraping, remote write) does so beside the queries. Starts no thread.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/metric_source.h"
#include "promql/engine/engine.h"
#include "promql/engine/series.h"

namespace flyball::adapter {

class Live : public MetricSource {
 public:
  // The store must outlive it. `options`: how queries are read and evaluated.
  explicit Live(const promql::SeriesReader& store, promql::EvalOptions options = {})
      : store_(store), options_(std::move(options)) {}

  // kInvalidArgument for whatever Prometheus would refuse or fail on, with its text, and for a
  // query over the limit. `timeout` is not needed: a query works on memory alone and is bounded.
  absl::StatusOr<std::shared_ptr<const QueryResult>> Query(absl::string_view promql, absl::Time at,
                                                           absl::Duration timeout) override;

  // Series with a sample at or after `start`, sorted by name and label names.
  absl::StatusOr<std::vector<SeriesName>> Series(absl::string_view selector, absl::Time start,
                                                 absl::Duration timeout) override;

 private:
  const promql::SeriesReader& store_;
  const promql::EvalOptions options_;
};

}  // namespace flyball::adapter
