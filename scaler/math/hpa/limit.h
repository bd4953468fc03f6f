// Holds a stabilised count to what rules and bounds allow.
//
// Pure. Percentages are computed in doubles as upstream does (100 + 10 % is 110.00000000000001,
// hence 111).
//
// Source:  Kubernetes v1.34.4 horizontal.go (convertDesiredReplicasWithRules,
//          convertDesiredReplicasWithBehaviorRate, calculateScaleUpLimitWithScalingRules,
//          calculateScaleDownLimitWithBehaviors).
#pragma once

#include "absl/strings/string_view.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

// Fills `limiting`, whose buffers it uses again, and `desired` of a decision that is stabilised.
// Without behavior: at most twice the current count (or 4), then the bounds. With behavior: the
// rules of the direction that is taken, and that direction's bound.
void Limit(const DecisionInput& input, Decision& decision);

// What the condition ScalingLimited says.
struct LimitWords {
  absl::string_view reason;
  absl::string_view message;
};
const LimitWords& WordsOf(LimitedBy by);

}  // namespace flyball::scaler
