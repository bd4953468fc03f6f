// Keeps what an autoscaler remembers small, and true when the wall clock jumps.
//
// Pure. None of it changes what the math makes of the state.
#pragma once

#include "absl/time/time.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

// Of recommendations for the same replicas only the newest can ever count: the windows look for the
// highest and the lowest. Drops the others that the recommendation of `now` outlives.
void DropOutlived(absl::Time now, ScalerState& state);

// The recommendation of a decision that would repeat the last one. False: there is none of these
// replicas to renew.
bool RenewRecommendation(int32_t replicas, absl::Time now, ScalerState& state);

// Whether the wall clock was set, rather than slewed, when it moved by so much against the other.
bool IsClockJump(absl::Duration moved);

// Moves everything remembered by as much as the wall clock was set.
void ShiftTimes(absl::Duration by, ScalerState& state);

}  // namespace flyball::scaler
