// The reading that replaces that of an unknown trigger with a fallback of its own (Autoscaler
// spec.triggers[].fallback).
//
// Pure. The trigger asks for the count that metric_fallback.h computes. While that is a kept count,
// activation (triggers/activation.h) treats the trigger as unknown, so that nothing goes to zero; a
// count that `then` sets is activity, unless it is 0. A trigger that is active stays active.
#pragma once

#include <cstddef>
#include <optional>

#include "scaler/math/input.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// The fallback of the trigger with that index; nullptr: it has none, so spec.fallback counts. In
// OwnSpec::metric_fallbacks those of the triggers follow those of the `metrics` metrics.
const MetricFallback* FallbackOfTrigger(const OwnSpec& own, size_t metrics, size_t index);

// The reading that activation gets for an unknown trigger for which `instead` counts.
TriggerReading ActivityInstead(const TriggerReading& unknown,
                               const std::optional<Reading::Instead>& instead);

}  // namespace flyball::scaler
