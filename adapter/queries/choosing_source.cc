#include "adapter/queries/choosing_source.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/status_macros.h"

namespace flyball::adapter {
namespace {

// A list is asked for anew when it is almost an interval old, so that a relist at the interval's
// end, which begins a moment before its question to Prometheus does, never finds it a moment young.
constexpr double kYoung = 0.95;

}  // namespace

absl::StatusOr<std::shared_ptr<const QueryResult>> ChoosingSource::Query(absl::string_view promql,
                                                                         absl::Time at,
                                                                         absl::Duration timeout) {
  auto result = live_.Query(promql, at, timeout);
  if (result.ok()) return result;
  return prometheus_.Query(promql, at, timeout);
}

absl::StatusOr<StandingResult> ChoosingSource::Ask(StandingQuery& query, absl::Time at,
                                                   absl::Duration timeout) {
  auto result = live_.Ask(query, at, timeout);
  if (result.ok()) return result;
  return prometheus_.Ask(query, at, timeout);
}

ChoosingSource::SeriesNames ChoosingSource::Remembered(absl::string_view selector,
                                                       MonotonicTime now) const {
  absl::MutexLock lock(&mutex_);
  const auto known = lists_.find(selector);
  const bool young = known != lists_.end() && now - known->second.asked < kYoung * relist_interval_;
  return young ? known->second.names : nullptr;
}

absl::StatusOr<ChoosingSource::SeriesNames> ChoosingSource::SeriesOfPrometheus(
    absl::string_view selector, absl::Time start, absl::Duration timeout) {
  const MonotonicTime now = clock_.MonotonicNow();
  if (SeriesNames names = Remembered(selector, now)) return names;
  ASSIGN_OR_RETURN(std::vector<SeriesName> found, prometheus_.Series(selector, start, timeout));
  auto names = std::make_shared<const std::vector<SeriesName>>(std::move(found));
  absl::MutexLock lock(&mutex_);
  // Those of rules that a reload has removed, among others.
  std::erase_if(lists_,
                [&](const auto& list) { return now - list.second.asked >= 2 * relist_interval_; });
  if (lists_.size() < kMaxLists) lists_.insert_or_assign(std::string(selector), List{now, names});
  return names;
}

absl::StatusOr<std::vector<SeriesName>> ChoosingSource::Series(absl::string_view selector,
                                                               absl::Time start,
                                                               absl::Duration timeout) {
  ASSIGN_OR_RETURN(std::vector<SeriesName> names, live_.Series(selector, start, timeout));
  ASSIGN_OR_RETURN(const SeriesNames others, SeriesOfPrometheus(selector, start, timeout));
  names.insert(names.end(), others->begin(), others->end());
  const auto key = [](const SeriesName& name) { return std::tie(name.name, name.labels); };
  std::sort(names.begin(), names.end(),
            [&](const SeriesName& a, const SeriesName& b) { return key(a) < key(b); });
  names.erase(
      std::unique(names.begin(), names.end(),
                  [&](const SeriesName& a, const SeriesName& b) { return key(a) == key(b); }),
      names.end());
  return names;
}

MetricSource& ChoosingSource::Of(rules::SourceChoice choice) {
  switch (choice) {
    case rules::SourceChoice::kLive: return live_;
    case rules::SourceChoice::kPrometheus: return prometheus_;
    case rules::SourceChoice::kAny: break;
  }
  return *this;
}

}  // namespace flyball::adapter
