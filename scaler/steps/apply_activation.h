// Puts leaving and entering zero replicas (triggers/activation.h) into a decision of the replica
// math.
//
// Pure.
#pragma once

#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/triggers/activation.h"

namespace flyball::scaler {

// The condition of an Autoscaler (CRD) that has triggers: whether one of them is active.
inline constexpr absl::string_view kActive = "Active";
// The condition of an Autoscaler (CRD) with a trigger whose requests go through the front: whether
// they reach its pods or are held for them, and what is refused since another object has it.
inline constexpr absl::string_view kFrontReady = "FrontReady";

// To be called after Decide, which was given an autoscaler whose minimum is at least one replica.
// At zero replicas Decide has therefore concluded "switched off", which is replaced by what
// `activation` says. Above zero a deactivation replaces the count of Decide, unless a metric is
// unknown or keeps asking for its last count. Sets the conditions Active and, where that is known,
// FrontReady.
void ApplyActivation(const DecisionInput& input, const Activation& activation, Decision& decision);

}  // namespace flyball::scaler
