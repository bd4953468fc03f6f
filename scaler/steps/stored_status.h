// The status that a decision starts from: that of the previous decision, with the changes that
// others have made to the stored one since.
//
// Pure.
#pragma once

#include "scaler/steps/tracked_autoscaler.h"

namespace flyball::scaler {

// Brings tracked.decided.status up to date with the stored object. To be called after the scale was
// taken; it may be called again within one cycle.
//
// The condition ScaledToZero is ours if we act by a dialect that knows it; otherwise it stays as
// stored. If both a person and we have changed it, the later change counts. The condition is added
// where without it nothing would wake the target: if a controller that wrote no such condition has
// put the target to sleep, or if the target is at zero replicas after a write of zero by us that
// got no usable answer, or by an earlier owner whose stored status does not say so. In the last two
// cases somebody else may have set the same count.
void TakeStoredStatus(TrackedAutoscaler& tracked);

// Whether metrics may put the target to sleep so that only the condition ScaledToZero lets it wake.
bool SleepsByCondition(const CycleInputs& inputs);

}  // namespace flyball::scaler
