// What a metric of an Autoscaler (CRD), or a trigger with a fallback of its own, asks for while it
// is unknown (spec.metrics[].fallback, spec.triggers[].fallback).
//
// Pure. A kept count never makes the target smaller: it is what the metric asked for last, or the
// current count if that is more. What `then` says counts like a reading, since a person has set it;
// the autoscaler's windows and policies apply to it as to any reading. While a count of a trigger
// is a kept one, activation (triggers/activation.h) treats the trigger as unknown, so that nothing
// goes to zero; a count that `then` sets is activity, unless it is 0. A trigger that is active
// stays active.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "scaler/math/input.h"
#include "scaler/math/proposal.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

// How long a metric has been unknown. This is not saved: another owner starts counting from zero,
// and holds the current count meanwhile.
struct MetricOutage {
  int32_t failures = 0;          // decisions in a row
  MonotonicTime since = {};      // of the first of them
  std::optional<int32_t> asked;  // the metric's proposal before them
};

// The time of a decision by both clocks.
struct DecisionTimes {
  absl::Duration WallOffset() const { return wall - absl::UnixEpoch() - monotonic; }

  absl::Time wall;
  MonotonicTime monotonic;
};

// Counts one more decision in which the metric is unknown. `last` is its proposal in the previous
// decision, or nullptr.
void NoteFailure(const Proposal* last, MonotonicTime now, MetricOutage& outage);

struct CountBounds {
  int32_t current = 0, min = 0, max = 0;
};

// The count that the fallback asks for; nullopt: none yet, or no longer, so the metric stays
// unknown.
std::optional<Reading::Instead> CountInstead(const MetricFallback& fallback,
                                             const MetricOutage& outage, const CountBounds& bounds,
                                             const DecisionTimes& now);

// The fallback of the trigger with that index; nullptr: it has none, so spec.fallback counts. In
// OwnSpec::metric_fallbacks those of the triggers follow those of the `metrics` metrics.
const MetricFallback* FallbackOfTrigger(const OwnSpec& own, size_t metrics, size_t index);

// The reading that activation gets for an unknown trigger for which `instead` counts.
TriggerReading ActivityInstead(const TriggerReading& unknown,
                               const std::optional<Reading::Instead>& instead);

}  // namespace flyball::scaler
