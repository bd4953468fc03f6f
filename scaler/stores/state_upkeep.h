// Keeps what an autoscaler remembers small, and true when the wall clock jumps.
//
// Pure. While the windows stay as they are, none of it changes what the math makes of the state.
// Once they get longer more is remembered here than the original would.
#pragma once

#include <vector>

#include "absl/time/time.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

// The longest window that a behavior may ask for.
inline constexpr absl::Duration kLongestWindow = absl::Hours(1);

// Leaves out the recommendations that no window can ever notice: those that a later one equals or
// exceeds and a later one equals or undercuts. Sorted by time.
void CompactRecommendations(const std::vector<Recommendation>& all,
                            std::vector<Recommendation>& out);

// After a decision: `before` is what was remembered until then. The math writes over what is too
// old for the windows of now; here it stays until it is older than `longest`, for an edit may make
// the windows longer. What no window can ever notice is left out.
void KeepRecommendations(const std::vector<Recommendation>& before, absl::Time now,
                         absl::Duration longest, ScalerState& state);

// The recommendation of a decision that would repeat the last one. False: there is none of these
// replicas to renew.
bool RenewRecommendation(int32_t replicas, absl::Time now, ScalerState& state);

// Whether the wall clock was set, rather than slewed, when it moved by so much against the other.
bool IsClockJump(absl::Duration moved);

// Moves everything remembered by as much as the wall clock was set.
void ShiftTimes(absl::Duration by, ScalerState& state);

}  // namespace flyball::scaler
