// One metric spec and its reading -> a proposal.
//
// Pure. Source: Kubernetes v1.34.4 horizontal.go (computeReplicasForMetric and the
// computeStatusFor… functions), error texts included.
#pragma once

#include <cstddef>

#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/math/reconcile.h"

namespace flyball::scaler {

// The band in which the autoscaler's usage ratio changes nothing. Tolerances that a behavior states
// count only with MathConfig::configurable_tolerance.
Tolerance ToleranceOf(const Autoscaler& autoscaler, const MathConfig& config);

// Fills `proposal` for metrics[index] from readings[index]; the pods and the scale must be known.
void Propose(const DecisionInput& input, size_t index, const DecideOptions& options,
             Workspace& workspace, Proposal& proposal);

}  // namespace flyball::scaler
