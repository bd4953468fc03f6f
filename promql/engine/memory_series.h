// Series whose samples are plain vectors, and a reader over a fixed list of them; used for files
// and for tests.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "promql/engine/series.h"

namespace flyball::promql {

class MemorySeries : public Series {
 public:
  // `points` in rising time.
  MemorySeries(Labels labels, std::vector<Point> points)
      : labels_(std::move(labels)), points_(std::move(points)) {}

  const Labels& labels() const override { return labels_; }
  void Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const override;
  std::optional<Point> Newest(int64_t from_ms, int64_t to_ms) const override;

 private:
  Labels labels_;
  std::vector<Point> points_;
};

class MemorySeriesReader : public SeriesReader {
 public:
  // Series in any order, no two with the same labels.
  explicit MemorySeriesReader(SeriesList series);

  absl::StatusOr<SeriesList> SelectUnless(const Interrupted& interrupted,
                                          const std::vector<Matcher>& matchers) const override;

 private:
  SeriesList series_;  // in label order
};

// True if each matcher matches its label's value.
bool MatchesAll(const Labels& labels, const std::vector<Matcher>& matchers);
// The most that this costs, in steps of a WorkMeter.
size_t CostOf(const std::vector<Matcher>& matchers);

}  // namespace flyball::promql
