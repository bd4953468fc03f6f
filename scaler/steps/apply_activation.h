// What leaving or entering zero replicas makes of a decision of the replica math.
//
// Pure.
#pragma once

#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/triggers/activation.h"

namespace flyball::scaler {

// Of our own kind, on autoscalers with triggers.
inline constexpr absl::string_view kActive = "Active";

// To be called after Decide, whose autoscaler has at least one replica as its minimum: at zero it
// has said "switched off", which is replaced; away from zero a deactivation takes the place of its
// count, unless a metric is unknown. Sets the condition Active.
void ApplyActivation(const DecisionInput& input, const Activation& activation, Decision& decision);

}  // namespace flyball::scaler
