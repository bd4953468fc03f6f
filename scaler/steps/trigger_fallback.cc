#include "scaler/steps/trigger_fallback.h"

namespace flyball::scaler {

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
