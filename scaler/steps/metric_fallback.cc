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

}  // namespace flyball::scaler
