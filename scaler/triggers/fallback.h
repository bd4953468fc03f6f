// The reading that replaces a trigger's own while that stays unknown. Its value is the one for
// which the replica math asks for the fallback's replicas.
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
  int32_t failures = 0;    // decisions in a row, this one included, in which it was unknown
  int32_t ready_pods = 0;  // what the replica math multiplies a kValue target's ratio with
};

// Gives `reading` itself while it is known, while failures <= after_failures, or when the fallback
// has no replicas. After that it gives a known reading that asks for fallback.replicas, and that is
// active when those are not 0. With target type kValue the reading stays unknown while there is no
// ready pod.
TriggerReading ApplyFallback(const FallbackInput& input);

}  // namespace flyball::scaler
