// The metrics path of a reconcile: selector, proposals, the largest, windows, rules and bounds.
//
// Pure. Not here: whether the metrics are read at all, the writes, and the making of the status
// (all in hpa_decider.h).
//
// Source:  Kubernetes v1.34.4 horizontal.go (validateAndParseSelector, computeReplicasForMetrics,
//          normalizeDesiredReplicas and …WithBehaviors).
#pragma once

#include <string>

#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/math/reconcile.h"

namespace flyball::scaler {

// Fills everything of `decision` from the proposals to `desired`, with conditions and events.
// Returns "", or why nothing may be decided: then the count is to be held.
std::string FollowMetrics(const DecisionInput& input, const DecideOptions& options,
                          Workspace& workspace, Decision& decision);

}  // namespace flyball::scaler
