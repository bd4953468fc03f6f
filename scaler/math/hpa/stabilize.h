// Holds a recommendation against the recent ones, and records it.
//
// Pure. Windows: without behavior an entry exactly as old as the window still counts; with behavior
// it no longer does.
//
// Source:  Kubernetes v1.34.4 horizontal.go (stabilizeRecommendation,
//          stabilizeRecommendationWithBehaviors).
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

struct StabilizeInput {
  int32_t recommended = 0;  // the largest proposal, not below 0
  int32_t current = 0;
  absl::Time now;
};

// Without behavior: the highest recommendation of the window, also where the count grows.
Stabilization StabilizeDown(const StabilizeInput& input, absl::Duration window, ScalerState& state);

// With behavior: as near to the current count as both windows allow. `default_down_window` stands
// in for a missing one.
Stabilization StabilizeBothWays(const StabilizeInput& input, const Behavior& behavior,
                                absl::Duration default_down_window, ScalerState& state);

}  // namespace flyball::scaler
