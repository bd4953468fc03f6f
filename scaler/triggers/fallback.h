// The reading that replaces a trigger's own while that is unknown. With its value the replica math
// asks for the fallback's replicas.
//
// Pure. Source: KEDA 2.20 fallback, behaviour `static`.
// Differs: a decision in which the reading is unknown counts as one failure, however often the
//          trigger was read for it.
#pragma once

#include <cstdint>

#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct FallbackInput {
  const TriggerMetric& metric;
  const TriggerReading& reading;
  const Fallback& fallback;
  int32_t failures = 0;    // decisions in a row, this one included, in which it failed
  int32_t ready_pods = 0;  // what the replica math multiplies a kValue target's ratio with
};

// Returns `reading` itself if it has not failed, if failures <= after_failures, or if the fallback
// has no replicas. Otherwise it returns a known reading that asks for fallback.replicas, and that
// is active if `reading` is or if that count is not 0. The result is unknown too, with the reason,
// if its value would be too large, or if the target type is kValue, there is no ready pod and the
// count is not 0.
TriggerReading ApplyFallback(const FallbackInput& input);

}  // namespace flyball::scaler
