#include "adapter/live/store.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "promql/text.h"

namespace flyball::adapter {
namespace {

constexpr uint64_t kNanBits = 0x7ff8000000000001;

uint64_t Bits(double value) { return absl::bit_cast<uint64_t>(value); }

bool MatchesAll(const LabelSet& labels, const std::vector<promql::Matcher>& matchers) {
  return std::all_of(matchers.begin(), matchers.end(), [&labels](const promql::Matcher& matcher) {
    return matcher.Matches(promql::LabelValue(labels, matcher.label()));
  });
}

absl::Status Normalize(LabelSet* labels) {
  labels->erase(std::remove_if(labels->begin(), labels->end(),
                               [](const auto& label) { return label.second.empty(); }),
                labels->end());
  std::sort(labels->begin(), labels->end());
  const auto twice =
      std::adjacent_find(labels->begin(), labels->end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != labels->end()) {
    return absl::InvalidArgumentError(absl::StrCat("label ", twice->first, " is given twice"));
  }
  if (labels->empty()) return absl::InvalidArgumentError("a series needs at least one label");
  return absl::OkStatus();
}

}  // namespace

void StoredSeries::Read(int64_t from_ms, int64_t to_ms, std::vector<promql::Point>& out) const {
  const auto first = std::lower_bound(
      points.begin(), points.end(), from_ms,
      [](const promql::Point& point, int64_t time_ms) { return point.time_ms < time_ms; });
  for (auto at = first; at != points.end() && at->time_ms <= to_ms; ++at) out.push_back(*at);
}

StoredSeries& SampleStore::Insert(LabelSet labels) {
  const auto made = std::make_shared<StoredSeries>(std::move(labels));
  StoredSeries& series = *made;
  series_.insert(made);
  by_name_[promql::LabelValue(series.plain_labels, "__name__")].insert(made);
  series.turn = turns_.insert(turns_.end(), &series);
  return series;
}

void SampleStore::Drop(StoredSeries& series) {
  const auto named = by_name_.find(promql::LabelValue(series.plain_labels, "__name__"));
  named->second.erase(named->second.find(&series));
  if (named->second.empty()) by_name_.erase(named);
  turns_.erase(series.turn);
  series_.erase(series_.find(series.plain_labels));
}

// A few at each sample, so that none has to wait for a walk over all series. A sample makes one
// series at most, so the store never fills up with those that are gone.
void SampleStore::DropOutdated(int64_t newest_ms) {
  constexpr int kMostAtOnce = 2;
  for (int i = 0; i < kMostAtOnce && !turns_.empty(); ++i) {
    StoredSeries& oldest = *turns_.front();
    if (oldest.points.back().time_ms >= newest_ms - limits_.retention_ms) return;
    Drop(oldest);
  }
}

absl::Status SampleStore::Append(LabelSet labels, int64_t time_ms, double value) {
  if (absl::Status status = Normalize(&labels); !status.ok()) return status;
  if (std::isnan(value) && !promql::IsStale(value)) value = absl::bit_cast<double>(kNanBits);

  const int64_t newest_ms = std::max(newest_ms_, time_ms);
  DropOutdated(newest_ms);
  const auto at = series_.find(labels);
  if (at == series_.end() && series_.size() >= limits_.max_series) {
    return absl::ResourceExhaustedError(
        absl::StrCat("over the limit of ", limits_.max_series, " series"));
  }
  StoredSeries& series = at != series_.end() ? **at : Insert(std::move(labels));

  std::deque<promql::Point>& points = series.points;
  if (!points.empty() && time_ms <= points.back().time_ms) {
    const std::string name = promql::FormatLabels(series.plain_labels);
    if (time_ms < points.back().time_ms) {
      return absl::OutOfRangeError(absl::StrCat("out of order sample for ", name));
    }
    if (Bits(value) == Bits(points.back().value)) return absl::OkStatus();
    return absl::AlreadyExistsError(absl::StrCat("duplicate sample for timestamp for ", name));
  }
  newest_ms_ = newest_ms;
  turns_.splice(turns_.end(), turns_, series.turn);
  points.push_back({time_ms, value});
  while (points.size() > limits_.max_points_per_series ||
         points.front().time_ms < time_ms - limits_.retention_ms) {
    points.pop_front();
  }
  return absl::OkStatus();
}

std::vector<std::shared_ptr<const promql::Series>> SampleStore::Select(
    const std::vector<promql::Matcher>& matchers) const {
  std::vector<std::shared_ptr<const promql::Series>> selected;
  for (const promql::Matcher& matcher : matchers) {
    if (matcher.label() != "__name__" || matcher.op() != promql::Matcher::Op::kEqual) continue;
    const auto named = by_name_.find(matcher.value());
    if (named == by_name_.end()) return selected;
    for (const auto& series : named->second) {
      if (MatchesAll(series->plain_labels, matchers)) selected.push_back(series);
    }
    return selected;
  }
  for (const auto& series : series_) {
    if (MatchesAll(series->plain_labels, matchers)) selected.push_back(series);
  }
  return selected;
}

}  // namespace flyball::adapter
