// What stands for a trigger's reading while it stays unknown: as much as asks for the fallback's
// replicas.
//
// Pure. Source: KEDA 2.20 fallback, behaviour `static`.
// Differs: a failed decision counts once, whoever reads.
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

// `reading` itself while it is known, while failures <= after_failures, or when the fallback holds.
// From then on a known reading that asks for fallback.replicas and is active when those are not 0;
// with target type kValue it stays unknown while there is no ready pod.
TriggerReading ApplyFallback(const FallbackInput& input);

}  // namespace flyball::scaler
