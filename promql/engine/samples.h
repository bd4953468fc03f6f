// The samples that one selector of a query reads: those of all its series, over all moments at
// which the query evaluates it, read once.
//
// Not thread-safe. Memory: 16 bytes for each sample.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "promql/engine/series.h"
#include "promql/labels.h"

namespace flyball::promql {

struct TimeSpan {  // both ends belong to it
  int64_t from_ms = 0;
  int64_t to_ms = 0;
};

class SelectorSamples {
 public:
  // What of the samples is kept.
  enum class Kind {
    kAll,         // markers of staleness too: an instant selector looks for them
    kNewest,      // the newest of each series, or its marker
    kWithoutEnd,  // no markers: a range selector does not see them
    kOneByOne,    // nothing: they are read series by series, as each is needed once
  };

  SelectorSamples() = default;
  // Stops once there are more than `max_points`.
  SelectorSamples(std::vector<std::shared_ptr<const Series>> series, TimeSpan span, Kind kind,
                  size_t max_points);

  size_t series_count() const { return series_.size(); }
  size_t point_count() const { return points_.size(); }
  const Labels& LabelsOf(size_t series) const { return series_[series]->labels(); }
  bool read_one_by_one() const { return one_by_one_; }
  // For kOneByOne: those of one series in this time, without markers. Writes over `points`.
  void Read(size_t series, TimeSpan span, std::vector<Point>& points) const;
  // Without the metric's name; made at the first call for any series.
  const Labels& NamelessOf(size_t series);
  // What that will take, about; 0 once they are made.
  size_t NamelessBytes() const;
  // What the list of series and their samples take.
  size_t Bytes() const;

  // Those of one series in this time, which lies in the span that was read.
  absl::Span<const Point> In(size_t series, TimeSpan span) const;
  // The newest of them; nullptr: there is none, or the series has ended with it.
  const Point* Current(size_t series, TimeSpan span) const;

 private:
  bool one_by_one_ = false;
  std::vector<std::shared_ptr<const Series>> series_;  // in label order
  std::vector<Point> points_;                          // of one series after the other
  std::vector<size_t> ends_;                           // of each series, in points_
  std::vector<Labels> nameless_;                       // of each series, or empty
};

}  // namespace flyball::promql
