// Keeps an autoscaler's remembered state small, and correct when the wall clock jumps.
//
// Pure. As long as an autoscaler's windows do not change and no more than kMostRecommendations
// could be noticed by a window, none of this changes what the math computes from the state. If
// there are more, some are merged: then a window may hold the count for longer, by less than
// kThinningPeriod if no more than an hour is remembered. If windows are made longer, more is
// remembered here than by the original.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

// How many recommendations are remembered: more than the syncs of a controller in the longest
// window, however the counts rise and fall.
inline constexpr size_t kMostRecommendations = 512;

// The longest window that a behavior may ask for.
inline constexpr absl::Duration kLongestWindow = absl::Hours(1);

// Recommendations are merged only with others of the same quarter of a minute. An hour touches 241
// of these; with one recommendation above the last one and one below it in each, that is 483.
inline constexpr absl::Duration kThinningPeriod = absl::Seconds(15);

// Leaves out the recommendations that no window can ever notice: those for which one later
// recommendation is at least as high and one is at least as low. Sorted by time. If more than
// kMostRecommendations are left, the oldest are merged: neighbours of one kThinningPeriod that are
// both above the last one or both below it. The count further from the last one gets the later
// time, so that it holds back a removal or an addition for longer. Merging more often gives the
// same result, unless the wall clock is set in between. More than an hour needs longer periods.
void CompactRecommendations(const std::vector<Recommendation>& all,
                            std::vector<Recommendation>& out);

// To be called after a decision; `before` is the state before it. The math overwrites entries that
// are too old for the present windows. This puts them back until they are older than `longest`,
// since an edit may make the windows longer. Entries that no window can ever notice are left out.
void KeepRecommendations(const std::vector<Recommendation>& before, absl::Time now,
                         absl::Duration longest, ScalerState& state);

// Changes the state as a decision that repeats the last one would: a recommendation of that many
// replicas gets the time `now`. False: there is no such recommendation.
bool RenewRecommendation(int32_t replicas, absl::Time now, ScalerState& state);

// The time of the last recommendation; InfinitePast: there is none.
absl::Time NewestRecommendation(const ScalerState& state);

// Whether a move of the wall clock against the monotonic clock by `moved` means that it was set,
// and not only slewed.
bool IsClockJump(absl::Duration moved);

// Adds `by`, the amount by which the wall clock was set, to all times in the state.
void ShiftTimes(absl::Duration by, ScalerState& state);

}  // namespace flyball::scaler
