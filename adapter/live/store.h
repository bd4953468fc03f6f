// Samples in memory, series by series: what Live evaluates PromQL over.
//
// Not thread-safe for writing; any number of threads may read between writes (Live holds the lock).
// Times are int64 milliseconds since the epoch. Source of the append rules: Prometheus 2.42.0 tsdb.
// Limits: series, samples of one series, and age; what falls outside is dropped, oldest first. The
// newest sample is what age is counted from, so whoever takes samples from others refuses those
// that lie far ahead of now, as Prometheus does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "promql/engine/series.h"
#include "promql/labels.h"

namespace flyball::adapter {

using promql::LabelSet;

class StoredSeries : public promql::Series {
 public:
  explicit StoredSeries(LabelSet labels)
      : plain_labels(std::move(labels)), shared_labels_(plain_labels) {}

  const promql::Labels& labels() const override { return shared_labels_; }
  void Read(int64_t from_ms, int64_t to_ms, std::vector<promql::Point>& out) const override;

  const LabelSet plain_labels;
  std::deque<promql::Point> points;         // rising times
  std::list<StoredSeries*>::iterator turn;  // the store's: its place among those to be dropped

 private:
  const promql::Labels shared_labels_;
};

struct StoreLimits {
  size_t max_series = 1'000'000;
  size_t max_points_per_series = 100'000;
  // A sample is dropped once the newest one of its series is younger by more than this; a series
  // once the newest sample of all is younger than the newest of its own by more than this.
  int64_t retention_ms = int64_t{24} * 3600 * 1000;
};

class SampleStore : public promql::SeriesReader {
 public:
  explicit SampleStore(StoreLimits limits = {}) : limits_(limits) {}

  // Labels in any order; empty values are dropped. NaNs other than the marker become one NaN.
  //   kInvalidArgument    a label twice, or no label at all
  //   kAlreadyExists      the series has another value at that time (the same value is fine)
  //   kOutOfRange         older than the series' newest sample
  //   kResourceExhausted  a new series over the limit
  absl::Status Append(LabelSet labels, int64_t time_ms, double value);

  std::vector<std::shared_ptr<const promql::Series>> Select(
      const std::vector<promql::Matcher>& matchers) const override;

  size_t series_count() const { return series_.size(); }

 private:
  struct ByLabels {
    using is_transparent = void;
    static const LabelSet& Of(const LabelSet& labels) { return labels; }
    static const LabelSet& Of(const StoredSeries* series) { return series->plain_labels; }
    static const LabelSet& Of(const std::shared_ptr<StoredSeries>& series) {
      return series->plain_labels;
    }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return Of(a) < Of(b);
    }
  };

  StoredSeries& Insert(LabelSet labels);
  void Drop(StoredSeries& series);
  void DropOutdated(int64_t newest_ms);

  StoreLimits limits_;
  int64_t newest_ms_ = std::numeric_limits<int64_t>::min();  // of all samples
  std::set<std::shared_ptr<StoredSeries>, ByLabels> series_;
  // Series of one metric name, in label order: nearly every selector names its metric.
  absl::flat_hash_map<std::string, absl::btree_set<std::shared_ptr<StoredSeries>, ByLabels>>
      by_name_;
  std::list<StoredSeries*> turns_;  // first the one that has had no sample for longest
};

}  // namespace flyball::adapter
