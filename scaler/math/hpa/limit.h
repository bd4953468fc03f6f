// Holds a stabilised count to what rules and bounds allow.
//
// Pure. Percentages are computed in doubles as upstream does (100 + 10 % is 110.00000000000001,
// hence 111).
//
// Source:  Kubernetes v1.34.4 horizontal.go (convertDesiredReplicasWithRules,
//          convertDesiredReplicasWithBehaviorRate, calculateScaleUpLimitWithScalingRules,
//          calculateScaleDownLimitWithBehaviors).
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

struct LimitInput {
  int32_t stabilized = 0;
  int32_t current = 0;
  int32_t min_replicas = 0;
  int32_t max_replicas = 0;
  absl::Time now;
};

// Both overwrite all of `out`, whose buffers they use again.

// Without behavior: at most twice the current count (or 4), then the bounds.
void LimitByDefault(const LimitInput& input, Limiting& out);

// With behavior: the rules of the direction that is taken, and that direction's bound.
void LimitByBehavior(const LimitInput& input, const Behavior& behavior, const ScalerState& state,
                     Limiting& out);

// What the condition ScalingLimited says.
struct LimitWords {
  absl::string_view reason;
  absl::string_view message;
};
const LimitWords& WordsOf(LimitedBy by);

}  // namespace flyball::scaler
