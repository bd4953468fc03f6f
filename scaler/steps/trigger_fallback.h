// What a trigger that is unknown, and has a fallback of its own, says instead (Autoscaler
// spec.triggers[].fallback).
//
// Pure. It asks for the count that metric_fallback.h says. While it keeps its count activation
// (triggers/activation.h) takes it for unknown, so that nothing goes to zero; what `then` says is
// activity, unless it is 0.
#pragma once

#include <cstddef>
#include <optional>

#include "scaler/math/input.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// That of the trigger with that index, or nullptr: spec.fallback counts. In
// OwnSpec::metric_fallbacks those of triggers stand behind those of the `metrics` metrics.
const MetricFallback* FallbackOfTrigger(const OwnSpec& own, size_t metrics, size_t index);

// What activation has to know of a trigger that is unknown, and for which `instead` counts.
TriggerReading ActivityInstead(const TriggerReading& unknown,
                               const std::optional<Reading::Instead>& instead);

}  // namespace flyball::scaler
