#include "adapter/live/warm_start.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "promql/engine/series.h"
#include "promql/selectors.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {
namespace {

constexpr int64_t kEarliest = std::numeric_limits<int64_t>::min();
constexpr int64_t kLatest = std::numeric_limits<int64_t>::max();

// Such a selector is not queried: an answer could not hold every series, and Prometheus refuses it.
bool MatchesAnySeries(const live::Selector& selector) {
  return std::all_of(selector.begin(), selector.end(),
                     [](const promql::Matcher& matcher) { return matcher.Matches(""); });
}

// Whether a series with these samples has missed less than two since.
bool MayGoOn(const std::vector<promql::Point>& points, int64_t now_ms) {
  if (points.size() < 2) return false;
  const int64_t newest_ms = points.back().time_ms;
  const int64_t interval_ms = std::min(newest_ms - points[points.size() - 2].time_ms,
                                       absl::ToInt64Milliseconds(WarmStart::kNewestAge));
  return now_ms - newest_ms < 2 * interval_ms;
}

}  // namespace

WarmStart::WarmStart(Deps deps, absl::Duration retention, absl::Duration warmup)
    : deps_(std::move(deps)),
      retention_(retention),
      warmup_(warmup),
      thread_(deps_.clock, [this] { return Step(); }) {}

void WarmStart::Add(std::vector<Kept> kept) {
  const MonotonicTime now = deps_.clock.MonotonicNow();
  const int64_t now_ms = absl::ToUnixMillis(deps_.clock.WallNow());
  {
    absl::MutexLock lock(&mutex_);
    for (Kept& one : kept) {
      if (MatchesAnySeries(one.selector)) continue;
      added_.push_back({.kept = std::move(one),
                        .look = now + warmup_,
                        .clock_zero = ClockZero(),
                        .begin_ms = now_ms,
                        .next_ms = now_ms,
                        .oldest_ms = kLatest,
                        .newest_ms = kEarliest});
    }
  }
  thread_.Wake();
}

RepeatingThread::Next WarmStart::Step() {
  {
    absl::MutexLock lock(&mutex_);
    std::move(added_.begin(), added_.end(), std::back_inserter(wanted_));
    added_.clear();
  }
  // In the order of their times.
  while (!wanted_.empty() && wanted_.front().look <= deps_.clock.MonotonicNow()) {
    Wanted wanted = std::move(wanted_.front());
    wanted_.pop_front();
    if (Look(wanted)) continue;
    wanted.fetched = true;  // what has not come by now is dropped
    wanted.look = deps_.clock.MonotonicNow() + std::max(warmup_, kLookAgain);
    wanted_.push_back(std::move(wanted));
  }
  if (wanted_.empty()) return {absl::InfiniteDuration()};
  Wanted* next = nullptr;
  for (Wanted& wanted : wanted_) {
    if (wanted.fetched) continue;
    if (next == nullptr || wanted.begin_ms - wanted.next_ms < next->begin_ms - next->next_ms) {
      next = &wanted;
    }
  }
  if (next == nullptr) return {wanted_.front().look};
  // The timeout is such that no check is late because of it.
  FetchPiece(*next, std::min(kTimeout, wanted_.front().look - deps_.clock.MonotonicNow()));
  return {deps_.clock.MonotonicNow()};
}

void WarmStart::FetchPiece(Wanted& wanted, absl::Duration timeout) {
  const int64_t first_ms = wanted.begin_ms - absl::ToInt64Milliseconds(retention_);
  const absl::Duration left = absl::Milliseconds(wanted.next_ms - first_ms);
  if (left < absl::Milliseconds(1)) {
    wanted.fetched = true;
    return;
  }
  const absl::Duration piece = std::min(wanted.piece, left);
  const std::string text = promql::SelectorText(wanted.kept.selector);
  auto past = deps_.past.Past(text, absl::FromUnixMillis(wanted.next_ms), piece, timeout);
  if (!past.ok()) {
    wanted.piece = piece / 2;
    wanted.fetched = absl::IsInvalidArgument(past.status()) || wanted.piece < kLeastPiece;
    if (wanted.fetched) {
      spdlog::warn("live source: the past of {} before {} is not known: {}", text,
                   absl::FormatTime(absl::FromUnixMillis(wanted.next_ms), absl::UTCTimeZone()),
                   std::string(past.status().message()));
    }
    return;
  }
  wanted.next_ms -= absl::ToInt64Milliseconds(piece);
  if (!Keep(*std::move(past), wanted)) wanted.fetched = true;
}

bool WarmStart::Keep(std::vector<PastSeries> past, Wanted& wanted) {
  for (PastSeries& series : past) {
    const int64_t oldest_ms = series.points.front().time_ms;
    const int64_t newest_ms = series.points.back().time_ms;
    const size_t samples = series.points.size();
    const absl::Status status = deps_.store.AddPast(series.labels, std::move(series.points));
    if (absl::IsResourceExhausted(status)) {
      spdlog::warn("live source: no room for the past: {}", std::string(status.message()));
      wanted.whole = false;
      return false;
    }
    if (!status.ok()) continue;  // labels that are refused here as they would be in samples
    wanted.oldest_ms = std::min(wanted.oldest_ms, oldest_ms);
    wanted.newest_ms = std::max(wanted.newest_ms, newest_ms);
    wanted.samples += samples;
  }
  return true;
}

bool WarmStart::Look(const Wanted& wanted) {
  if (wanted.samples == 0) return true;  // there is no past
  const absl::Duration step = ClockZero() - wanted.clock_zero;
  if (step > kClockStep || step < -kClockStep) return true;
  if (!deps_.warmed_up()) return false;
  const std::string text = promql::SelectorText(wanted.kept.selector);
  const int64_t now_ms = absl::ToUnixMillis(deps_.clock.WallNow());
  const int64_t alive_ms = wanted.begin_ms - absl::ToInt64Milliseconds(kNewestAge);
  size_t over = 0, fresh = 0, go_on = 0;  // `over`: of those that were alive at the beginning
  std::vector<promql::Point> points;
  std::vector<std::pair<std::shared_ptr<const promql::Series>, bool>> missing;  // may it go on?
  for (const auto& series : deps_.store.Select(wanted.kept.selector)) {
    points.clear();
    series->Read(kEarliest, kLatest, points);
    const bool marked = !points.empty() && promql::IsStale(points.back().value);
    while (!points.empty() && promql::IsStale(points.back().value)) points.pop_back();
    if (points.empty()) continue;
    const bool has_past = points.front().time_ms <= wanted.begin_ms;
    if (points.back().time_ms > wanted.begin_ms) {
      ++(has_past ? go_on : fresh);
      continue;
    }
    if (points.back().time_ms >= alive_ms) ++over;
    if (!marked) missing.emplace_back(series, MayGoOn(points, now_ms));
  }
  // If none goes on, the new ones may be the same series under other labels.
  const bool same_labels = go_on > 0 || fresh == 0;
  bool decided = true;
  for (const auto& [series, may_go_on] : missing) {
    if (may_go_on && same_labels) {
      decided = false;
      continue;
    }
    // It is refused only if a sample has arrived just now, which is fine.
    (void)deps_.store.Append(series->labels(), {now_ms, promql::StaleMarker()}, now_ms);
  }
  if (!decided) return false;
  if (over > 0 && fresh > 0) {
    spdlog::warn(
        "live source: {} series of {} that Prometheus had do not go on here and {} others are new; "
        "their past does not count, as they may be the same under other labels",
        over, text, fresh);
    return true;
  }
  if (!wanted.whole || wanted.newest_ms < alive_ms) return true;
  spdlog::info("live source: {} go on from {} samples of Prometheus: {} series, {} more are new",
               text, wanted.samples, go_on, fresh);
  deps_.known(wanted.kept, wanted.oldest_ms);
  return true;
}

}  // namespace flyball::adapter
