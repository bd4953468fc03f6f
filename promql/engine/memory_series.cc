#include "promql/engine/memory_series.h"

#include <algorithm>
#include <numeric>

#include "base/status_macros.h"

namespace flyball::promql {
namespace {

bool IsBefore(const Point& point, int64_t time_ms) { return point.time_ms < time_ms; }

}  // namespace

void MemorySeries::Read(int64_t from_ms, int64_t to_ms, std::vector<Point>& points) const {
  const auto first = std::lower_bound(points_.begin(), points_.end(), from_ms, IsBefore);
  const auto last =
      std::upper_bound(first, points_.end(), to_ms,
                       [](int64_t time_ms, const Point& point) { return time_ms < point.time_ms; });
  points.insert(points.end(), first, last);
}

std::optional<Point> MemorySeries::Newest(int64_t from_ms, int64_t to_ms) const {
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), to_ms,
                       [](int64_t time_ms, const Point& point) { return time_ms < point.time_ms; });
  if (after == points_.begin() || (after - 1)->time_ms < from_ms) return std::nullopt;
  return *(after - 1);
}

MemorySeriesReader::MemorySeriesReader(SeriesList series) : series_(std::move(series)) {
  std::sort(series_.begin(), series_.end(),
            [](const auto& a, const auto& b) { return a->labels() < b->labels(); });
}

absl::StatusOr<SeriesList> MemorySeriesReader::SelectUnless(
    const Interrupted& interrupted, const std::vector<Matcher>& matchers) const {
  SeriesList selected;
  WorkMeter work(interrupted);
  const size_t cost = CostOf(matchers);
  for (const auto& series : series_) {
    RETURN_IF_ERROR(work.Count(cost));
    if (MatchesAll(series->labels(), matchers)) selected.push_back(series);
  }
  return selected;
}

size_t CostOf(const std::vector<Matcher>& matchers) {
  return std::accumulate(matchers.begin(), matchers.end(), size_t{1},
                         [](size_t sum, const Matcher& one) { return sum + one.cost(); });
}

bool MatchesAll(const Labels& labels, const std::vector<Matcher>& matchers) {
  return std::all_of(matchers.begin(), matchers.end(), [&labels](const Matcher& matcher) {
    return matcher.Matches(labels.Get(matcher.label()));
  });
}

}  // namespace flyball::promql
