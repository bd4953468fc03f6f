// The samples of one selector of a query: those of all its series, over all moments at which the
// query evaluates it, read once.
//
// Not thread-safe. Memory: 16 bytes for each sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "promql/engine/interruption.h"
#include "promql/engine/series.h"
#include "promql/labels.h"

namespace flyball::promql {

struct TimeSpan {  // both ends belong to it
  int64_t from_ms = 0;
  int64_t to_ms = 0;
};

// The steps of a WorkMeter for finding the samples of one series, beside those that it gives. A
// series may have to look at many that are outside the time.
inline constexpr size_t kStepsOfSeries = 64;

class SelectorSamples {
 public:
  // Which of the samples are kept.
  enum class Kind {
    kAll,         // staleness markers too, since an instant selector needs them
    kNewest,      // the newest of each series, or its marker
    kWithoutEnd,  // no markers, since a range selector ignores them
    kOneByOne,    // none: they are read series by series, when each is needed
  };

  SelectorSamples() = default;
  // Stops once there are more than `max_points`, or `work` is interrupted.
  SelectorSamples(std::vector<std::shared_ptr<const Series>> series, TimeSpan span, Kind kind,
                  size_t max_points, WorkMeter& work);

  // Not OK: it was interrupted, and may only be dropped.
  const absl::Status& status() const { return status_; }
  size_t series_count() const { return series_.size(); }
  size_t point_count() const { return points_.size(); }
  const Labels& LabelsOf(size_t series) const { return series_[series]->labels(); }
  bool read_one_by_one() const { return one_by_one_; }
  // For kOneByOne: reads one series in this time, without markers. Overwrites `points`.
  void Read(size_t series, TimeSpan span, std::vector<Point>& points) const;
  // The labels without the metric's name; made at the first call for any series.
  const Labels& NamelessOf(size_t series);
  // The approximate memory for those; 0 once they are made.
  size_t NamelessBytes() const;
  // The memory of the list of series and their samples.
  size_t Bytes() const;

  // The samples of one series in this time, which is within the span that was read.
  absl::Span<const Point> In(size_t series, TimeSpan span) const;
  // The newest of them; nullptr: there is none, or it is a staleness marker.
  const Point* Current(size_t series, TimeSpan span) const;

 private:
  absl::Status status_;
  bool one_by_one_ = false;
  std::vector<std::shared_ptr<const Series>> series_;  // in label order
  std::vector<Point> points_;                          // of one series after the other
  std::vector<size_t> ends_;                           // of each series, in points_
  std::vector<Labels> nameless_;                       // of each series, or empty
};

}  // namespace flyball::promql
