// The status that a decision goes on from: the one that the decision before made, and what others
// have written into the stored one since.
//
// Pure.
#pragma once

#include "scaler/steps/tracked_autoscaler.h"

namespace flyball::scaler {

// Brings tracked.decided.status up to date with the stored object. The scale must be taken. Within
// one cycle it may be called again.
//
// The condition ScaledToZero is ours where we act by a dialect that knows it; elsewhere it stays as
// it is stored. Where a person and we have changed it, the later change counts. A target that was
// put to sleep by a controller that wrote no such condition gets it, for without it nobody would
// wake the target.
void TakeStoredStatus(TrackedAutoscaler& tracked);

}  // namespace flyball::scaler
