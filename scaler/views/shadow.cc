#include "scaler/views/shadow.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace flyball::scaler {
namespace {

constexpr size_t kMostRuns = 16;
constexpr size_t kMostTold = 5;

int64_t Measured(const MetricStatus& status) {
  if (status.average_utilization.has_value()) return *status.average_utilization;
  if (status.average_value.has_value()) return status.average_value->MilliValue();
  return status.value.has_value() ? status.value->MilliValue() : 0;
}

ShadowSide SideOf(const AutoscalerStatus& status) {
  ShadowSide side;
  side.current = status.current_replicas;
  side.desired = status.desired_replicas;
  for (const MetricStatus& metric : status.current_metrics) {
    side.metrics.push_back(Measured(metric));
  }
  for (const Condition& condition : status.conditions) {
    side.conditions.push_back(absl::StrCat(
        condition.type, "=", ConditionStatusName(condition.status), " ", condition.reason));
  }
  std::sort(side.conditions.begin(), side.conditions.end());
  // Conditions are sorted, so an unknown scale ("AbleToScale") comes before "ScalingActive".
  const auto failure = std::find_if(
      side.conditions.begin(), side.conditions.end(), [](const std::string& condition) {
        return absl::StartsWith(condition, "AbleToScale=False FailedGetScale") ||
               (absl::StartsWith(condition, "ScalingActive=False") &&
                !absl::EndsWith(condition, "ScalingDisabled"));
      });
  if (failure != side.conditions.end()) side.failure = *failure;
  return side;
}

absl::Duration Distance(absl::Time first, absl::Time last, absl::Time time) {
  if (time < first) return first - time;
  return time > last ? time - last : absl::ZeroDuration();
}

std::string ShowAll(const std::vector<int64_t>& values) {
  return values.empty() ? "none" : absl::StrJoin(values, ",");
}

// The first reason that is true, with what differed. `ours` is our decision nearest in time;
// `lags` says whether we had decided the same earlier.
std::pair<ShadowReason, std::string> Compare(const ShadowSide& theirs,
                                             const std::optional<ShadowSide>& ours, bool lags) {
  if (!ours.has_value()) return {ShadowReason::kUnknown, "nothing was decided here"};
  if (!ours->known) return {ShadowReason::kUnknown, "readings or scale were not known here"};
  if (ours->current != theirs.current) {
    return {ShadowReason::kScale, absl::StrCat("current ", theirs.current, " / ", ours->current)};
  }
  if (lags) return {ShadowReason::kLag, "decided here earlier"};
  if (ours->metrics != theirs.metrics) {
    return {ShadowReason::kReadings,
            absl::StrCat("readings ", ShowAll(theirs.metrics), " / ", ShowAll(ours->metrics))};
  }
  if (ours->conditions != theirs.conditions) {
    return {ShadowReason::kConditions, absl::StrCat(absl::StrJoin(theirs.conditions, ", "), " / ",
                                                    absl::StrJoin(ours->conditions, ", "))};
  }
  return {ShadowReason::kOther, ""};
}

}  // namespace

uint64_t ShadowCounts::DifferentInAll() const {
  return std::accumulate(different.begin(), different.end(), uint64_t{0});
}

// Whether one of our decisions within the window around the status says the same.
bool Shadow::Agrees(const Object& object, const Open& open) const {
  return std::any_of(object.runs.begin(), object.runs.end(), [&](const Run& run) {
    if (Distance(run.first, run.last, open.time) > Window()) return false;
    if (!run.side.known)
      return !run.side.failure.empty() && run.side.failure == open.theirs.failure;
    return run.side.desired == open.theirs.desired;
  });
}

void Shadow::CountEqual(Object& object) {
  ++object.counts.equal;
  ++counts_.equal;
  object.open.reset();
}

// Counts the open status as different and records the reason.
void Shadow::Judge(Object& object) {
  const Open& open = *object.open;
  ShadowDifference difference{.time = open.time,
                              .reason = ShadowReason::kOther,
                              .theirs = open.theirs,
                              .ours = std::nullopt,
                              .detail = ""};
  const auto nearest =
      std::min_element(object.runs.begin(), object.runs.end(), [&](const Run& a, const Run& b) {
        return Distance(a.first, a.last, open.time) < Distance(b.first, b.last, open.time);
      });
  if (nearest != object.runs.end()) difference.ours = nearest->side;
  const bool lags = std::any_of(object.runs.begin(), object.runs.end(), [&](const Run& run) {
    return run.side.desired == open.theirs.desired && run.last < open.time - Window();
  });
  std::tie(difference.reason, difference.detail) = Compare(open.theirs, difference.ours, lags);
  ++object.counts.different[static_cast<size_t>(difference.reason)];
  ++counts_.different[static_cast<size_t>(difference.reason)];
  object.last.push_back(std::move(difference));
  if (object.last.size() > kMostTold) object.last.pop_front();
  object.open.reset();
}

void Shadow::OnDecision(const DecisionRecord& record) {
  if (record.managed->key.kind != AutoscalerKind::kHpa) return;
  // In another mode nothing is compared, and an open comparison would only be judged by much later
  // decisions.
  if (record.mode != Mode::kShadow) return OnForgotten(record.managed->key);
  const Decision& decision = *record.decision;
  ShadowSide side = SideOf(decision.status);
  side.current = decision.current;
  side.known =
      decision.outcome != Outcome::kScaleUnknown && decision.outcome != Outcome::kMetricsFailed;
  absl::MutexLock lock(&mutex_);
  Object& object = objects_[record.managed->key];
  Run* last = object.runs.empty() ? nullptr : &object.runs.back();
  if (last != nullptr && last->side.desired == side.desired && last->side.current == side.current &&
      last->side.known == side.known && last->side.failure == side.failure) {
    last->last = record.time;
    last->side = std::move(side);
  } else {
    object.runs.push_back({.first = record.time, .last = record.time, .side = std::move(side)});
    if (object.runs.size() > kMostRuns) object.runs.pop_front();
  }
  if (!object.open.has_value()) return;
  if (Agrees(object, *object.open)) {
    CountEqual(object);
  } else if (record.time - object.open->time > Window()) {
    Judge(object);
  }
}

void Shadow::OnForeignStatus(const ManagedPtr& managed) {
  if (managed->key.kind != AutoscalerKind::kHpa) return;
  Open open{.time = clock_.WallNow(), .theirs = SideOf(managed->autoscaler.status)};
  absl::MutexLock lock(&mutex_);
  const auto found = objects_.find(managed->key);
  if (found == objects_.end()) return;  // another replica's, in another mode, or not decided yet
  Object& object = found->second;
  // A comparison that is still open ends now: its time is over, or the controller writes faster
  // than we decide.
  if (object.open.has_value()) Judge(object);
  object.open = std::move(open);
  if (Agrees(object, *object.open)) CountEqual(object);
}

void Shadow::OnForgotten(const AutoscalerKey& key) {
  absl::MutexLock lock(&mutex_);
  objects_.erase(key);
}

ShadowReport Shadow::Report() const {
  ShadowReport report;
  absl::MutexLock lock(&mutex_);
  report.counts = counts_;
  for (const auto& [key, object] : objects_) {
    report.objects.push_back({.key = key,
                              .counts = object.counts,
                              .open = object.open.has_value(),
                              .last = {object.last.begin(), object.last.end()}});
  }
  std::sort(report.objects.begin(), report.objects.end(),
            [](const ShadowObject& a, const ShadowObject& b) { return a.key < b.key; });
  return report;
}

ShadowCounts Shadow::counts() const {
  absl::MutexLock lock(&mutex_);
  return counts_;
}

}  // namespace flyball::scaler
