// The changes of the store that concern many series at once: which are kept, and which are watched.
//
// Series are examined without the index's lock, so that queries and new series wait only for the
// change itself.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "adapter/live/store/store.h"
#include "adapter/live/store/times.h"
#include "base/status_macros.h"

namespace flyball::live {
namespace {

// A longer gap is no interval, but a time without samples.
constexpr int64_t kLongestIntervalMs = 70'000;

struct LastSample {
  int64_t time_ms = 0;
  int64_t missed_two_ms = 0;  // when it has missed two samples, by its longest interval
};

// nullopt: it has too few samples, or has ended.
std::optional<LastSample> LastSampleOf(const StoredSeries& series) {
  std::vector<Point> points;
  series.Read(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), points);
  if (points.size() < 2 || promql::IsStale(points.back().value)) return std::nullopt;
  int64_t longest_ms = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    longest_ms = std::max(longest_ms, points[i].time_ms - points[i - 1].time_ms);
  }
  const int64_t newest_ms = points.back().time_ms;
  return LastSample{newest_ms, newest_ms + 2 * std::min(longest_ms, kLongestIntervalMs)};
}

}  // namespace

absl::StatusOr<std::vector<SeriesPtr>> Store::FindUnless(const promql::Interrupted& interrupted,
                                                         const Selector& selector) const {
  SeriesIndex::Candidates candidates;
  {
    absl::ReaderMutexLock lock(&mutex_);
    candidates = index_.FindCandidates(selector);
  }
  RETURN_IF_ERROR(KeepMatching(selector, interrupted, candidates));
  return std::move(candidates.series);
}

void Store::Remove(const std::vector<SeriesPtr>& series,
                   const std::function<std::optional<size_t>(StoredSeries&)>& drop) {
  if (series.empty()) return;
  std::vector<SeriesPtr> gone;
  size_t bytes = 0;
  absl::MutexLock lock(&mutex_);
  for (const SeriesPtr& one : series) {
    const std::optional<size_t> of_samples = drop(*one);
    if (!of_samples) continue;
    const size_t of_series = *of_samples + one->fixed_bytes();
    bytes += of_series;
    fixed_bytes_ -= one->fixed_bytes();
    if (one->sender() == Sender::kAnybody) {
      anybody_bytes_.fetch_sub(of_series, std::memory_order_relaxed);
      shares_.Remove(NamespaceShares::NamespaceOf(one->labels()), one->fixed_bytes());
    }
    gone.push_back(one);
  }
  index_.Remove(gone);
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

void Store::Prune(int64_t now_ms) {
  const int64_t oldest_ms = Earlier(now_ms, options_.retention_ms);
  std::vector<SeriesPtr> old = Find({});
  std::erase_if(old, [=](const SeriesPtr& series) { return !series->IsOlderThan(oldest_ms); });
  // Checked again under the lock, since a sample may have arrived.
  Remove(old, [=](StoredSeries& series) { return series.DropIfOlderThan(oldest_ms); });
}

void Store::DropLaterThan(int64_t time_ms) {
  Remove(Find({}), [=](StoredSeries& series) { return series.DropIfLaterThan(time_ms); });
}

bool Store::EndPast(int64_t now_ms) {
  bool may_go_on = false;
  for (const SeriesPtr& series : Find({})) {
    if (series->sender() != Sender::kUnclaimed) continue;
    const std::optional<LastSample> last = LastSampleOf(*series);
    if (!last) continue;
    may_go_on = may_go_on || now_ms < last->missed_two_ms;
    if (now_ms < last->missed_two_ms) continue;
    SeriesHandle handle;
    handle.series_ = series;
    // Just behind its last sample: one that has come since, or is under way, is later, so that the
    // series goes on. It is refused if the series was dropped, which is fine.
    Append(handle, {last->time_ms + 1, promql::StaleMarker()}, now_ms, /*window_ms=*/0)
        .IgnoreError();
  }
  return may_go_on;
}

void Store::Keep(std::optional<std::vector<Selector>> selectors) {
  std::shared_ptr<SelectorTable<bool>> kept;
  if (selectors) {
    kept = std::make_shared<SelectorTable<bool>>();
    for (Selector& selector : *selectors) kept->Add(std::move(selector), true);
  }
  {
    absl::MutexLock lock(&mutex_);
    kept_ = kept;
    keep_version_.fetch_add(1, std::memory_order_relaxed);
  }
  if (kept == nullptr) return;
  std::vector<SeriesPtr> unused = Find({});
  std::erase_if(unused,
                [&](const SeriesPtr& series) { return !kept->Find(series->labels()).empty(); });
  Remove(unused, [](StoredSeries& series) { return series.Drop(); });
}

void Store::StartWatch(const std::shared_ptr<Watch>& watch) {
  {
    absl::MutexLock lock(&mutex_);
    for (const Selector& selector : watch->selectors()) watched_.Add(selector, watch);
  }
  // A series that was made since has it already.
  for (const Selector& selector : watch->selectors()) {
    for (const SeriesPtr& series : Find(selector)) series->AddWatch(watch);
  }
}

void Store::StopWatch(const std::shared_ptr<Watch>& watch) {
  {
    absl::MutexLock lock(&mutex_);
    for (const Selector& selector : watch->selectors()) watched_.Remove(selector, watch);
  }
  for (const Selector& selector : watch->selectors()) {
    for (const SeriesPtr& series : Find(selector)) series->RemoveWatch(watch);
  }
}

}  // namespace flyball::live
