#include "promql/engine/samples.h"

#include <algorithm>
#include <utility>

#include "promql/engine/value.h"

namespace flyball::promql {
namespace {

bool IsBefore(const Point& point, int64_t time_ms) { return point.time_ms < time_ms; }
bool IsAfter(int64_t time_ms, const Point& point) { return time_ms < point.time_ms; }

void DropMarkers(size_t begin, std::vector<Point>& points) {
  points.erase(std::remove_if(points.begin() + static_cast<std::ptrdiff_t>(begin), points.end(),
                              [](const Point& point) { return IsStale(point.value); }),
               points.end());
}

}  // namespace

SelectorSamples::SelectorSamples(std::vector<std::shared_ptr<const Series>> series, TimeSpan span,
                                 Kind kind, size_t max_points, WorkMeter& work)
    : one_by_one_(kind == Kind::kOneByOne), series_(std::move(series)) {
  if (one_by_one_) return;
  ends_.reserve(series_.size());
  for (const auto& one : series_) {
    const size_t begin = points_.size();
    if (begin > max_points) return;
    if (kind == Kind::kNewest) {
      if (const auto newest = one->Newest(span.from_ms, span.to_ms)) points_.push_back(*newest);
    } else {
      one->Read(span.from_ms, span.to_ms, points_);
    }
    status_ = work.Count(kStepsOfSeries + points_.size() - begin);
    if (!status_.ok()) return;
    if (kind == Kind::kWithoutEnd) DropMarkers(begin, points_);
    ends_.push_back(points_.size());
    // Series of one selector mostly have as many samples each: room for all of them at once saves
    // the copies, and the fresh pages, that a vector takes to grow. A series may read more than it
    // keeps, hence the factor.
    if (begin == 0) points_.reserve(std::min(points_.size() * (series_.size() + 4), max_points));
  }
}

void SelectorSamples::Read(size_t series, TimeSpan span, std::vector<Point>& points) const {
  points.clear();
  series_[series]->Read(span.from_ms, span.to_ms, points);
  DropMarkers(0, points);
}

const Labels& SelectorSamples::NamelessOf(size_t series) {
  if (nameless_.empty()) {
    nameless_.reserve(series_.size());
    for (const auto& one : series_) nameless_.push_back(WithoutName(one->labels()));
  }
  return nameless_[series];
}

size_t SelectorSamples::NamelessBytes() const {
  if (!nameless_.empty()) return 0;
  constexpr size_t kEach = 32;  // the place in the vector and the header of shared labels
  size_t bytes = 0;
  for (const auto& one : series_) bytes += one->labels().encoded().size() + kEach;
  return bytes;
}

size_t SelectorSamples::Bytes() const {
  return series_.capacity() * sizeof(series_[0]) + points_.size() * sizeof(Point) +
         ends_.capacity() * sizeof(size_t);
}

absl::Span<const Point> SelectorSamples::In(size_t series, TimeSpan span) const {
  const Point* begin = points_.data() + (series == 0 ? 0 : ends_[series - 1]);
  const Point* end = points_.data() + ends_[series];
  // A query of one moment has read nothing else.
  if (begin != end && begin->time_ms < span.from_ms) {
    begin = std::lower_bound(begin, end, span.from_ms, IsBefore);
  }
  if (begin != end && (end - 1)->time_ms > span.to_ms) {
    end = std::upper_bound(begin, end, span.to_ms, IsAfter);
  }
  return absl::MakeConstSpan(begin, end);
}

const Point* SelectorSamples::Current(size_t series, TimeSpan span) const {
  const absl::Span<const Point> points = In(series, span);
  return points.empty() || IsStale(points.back().value) ? nullptr : &points.back();
}

}  // namespace flyball::promql
