// The status that a decision starts from: the one that the previous decision made, with what others
// have written into the stored one since.
//
// Pure.
#pragma once

#include "scaler/steps/tracked_autoscaler.h"

namespace flyball::scaler {

// Brings tracked.decided.status up to date with the stored object. To be called after the scale was
// taken; it may be called again within one cycle.
//
// The condition ScaledToZero is ours if we act by a dialect that knows it; otherwise it stays as it
// is stored. If both a person and we have changed it, the later change counts. A target that was
// put to sleep by a controller that wrote no such condition gets it, since without it nothing would
// wake the target; so does one that is found at zero replicas after our write of zero got no usable
// answer, or after an earlier owner's that the stored status does not tell of, even if somebody
// else may have set the same count.
void TakeStoredStatus(TrackedAutoscaler& tracked);

// Whether metrics may put the target to sleep, and only the condition ScaledToZero lets it wake.
bool SleepsByCondition(const CycleInputs& inputs);

}  // namespace flyball::scaler
