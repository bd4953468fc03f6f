// What a metric of our own kind asks for while it is unknown (Autoscaler spec.metrics[].fallback).
//
// Pure. A count that is kept never makes anything smaller: it is what the metric asked for last, or
// what there is if that is more. What `then` says counts like a reading, since it is a person's
// word; the windows and policies of the autoscaler hold for it as for any other.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "scaler/math/input.h"
#include "scaler/math/proposal.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// Since when a metric is unknown. It is not written down: another owner begins to count anew, and
// holds meanwhile.
struct MetricOutage {
  int32_t failures = 0;          // decisions in a row
  MonotonicTime since = {};      // of the first of them
  std::optional<int32_t> asked;  // what it had asked for before them
};

struct FallbackTimes {
  absl::Time wall;
  MonotonicTime monotonic;
};

// One more decision in which the metric is unknown; `last` is its proposal of the decision before,
// or nullptr.
void NoteFailure(const Proposal* last, MonotonicTime now, MetricOutage& outage);

struct CountBounds {
  int32_t current = 0, min = 0, max = 0;
};

// nullopt: it stays unknown.
std::optional<Reading::Instead> CountInstead(const MetricFallback& fallback,
                                             const MetricOutage& outage, const CountBounds& bounds,
                                             const FallbackTimes& now);

}  // namespace flyball::scaler
