#include "scaler/steps/metric_fallback.h"

#include <algorithm>

namespace flyball::scaler {

void NoteFailure(const Proposal* last, MonotonicTime now, MetricOutage& outage) {
  if (outage.failures++ > 0) return;
  outage.since = now;
  outage.asked.reset();
  if (last != nullptr && last->valid && last->verdict != Verdict::kInstead) {
    outage.asked = last->replicas;
  }
}

std::optional<Reading::Instead> CountInstead(const MetricFallback& fallback,
                                             const MetricOutage& outage, const CountBounds& bounds,
                                             const DecisionTimes& now) {
  const absl::Duration left = outage.since + fallback.keep_last - now.monotonic;
  if (left > absl::ZeroDuration()) {
    if (!outage.asked.has_value()) return std::nullopt;
    return Reading::Instead{.replicas = std::max(*outage.asked, bounds.current),
                            .until = now.wall + left};
  }
  if (fallback.keep_last == absl::ZeroDuration() && outage.failures <= fallback.after_failures) {
    return std::nullopt;
  }
  switch (fallback.then) {
    case MetricFallback::Then::kFail: break;
    case MetricFallback::Then::kReplicas: return Reading::Instead{.replicas = fallback.replicas};
    case MetricFallback::Then::kMax: return Reading::Instead{.replicas = bounds.max};
    case MetricFallback::Then::kMin: return Reading::Instead{.replicas = bounds.min};
  }
  return std::nullopt;
}

const MetricFallback* FallbackOfTrigger(const OwnSpec& own, size_t metrics, size_t index) {
  const size_t place = metrics + index;
  if (place >= own.metric_fallbacks.size()) return nullptr;
  const std::optional<MetricFallback>& fallback = own.metric_fallbacks[place];
  return fallback.has_value() ? &*fallback : nullptr;
}

TriggerReading ActivityInstead(const TriggerReading& unknown,
                               const std::optional<Reading::Instead>& instead) {
  // Only a count that is kept has an end.
  if (!instead.has_value() || instead->until != absl::InfiniteFuture()) return unknown;
  return {.active = unknown.active || instead->replicas > 0,
          .time = unknown.time,
          .front = unknown.front};
}

}  // namespace flyball::scaler
