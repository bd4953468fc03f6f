// What an autoscaler remembers: past recommendations and past changes of the scale.
//
// Pure. As in upstream, a list grows only while none of its entries is old enough to be
// overwritten, and is not ordered by time.
//
// Source:  Kubernetes v1.34.4 horizontal.go (recordInitialRecommendation, stabilizeRecommendation,
//          storeScaleEvent, markScaleEventsOutdated, getReplicasChangePerPeriod).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/input.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// Records the current count if nothing is recorded yet. Its time is a microsecond before `now`:
// upstream reads the clock again before it applies the windows, so that there even this entry is
// older than a window of 0.
void RecordInitialRecommendation(int32_t current, absl::Time now, ScalerState& state);

// Overwrites entry `outdated` with the recommendation, or appends it.
void RecordRecommendation(const Recommendation& recommendation, std::optional<size_t> outdated,
                          ScalerState& state);

// The longest period of the policies; 0: there is none.
int32_t LongestPeriodSeconds(const ScalingRules& rules);

// Stores a change of the scale that was made. It replaces an entry that is older than the
// direction's longest policy period, if there is one.
void RecordScaleEvent(const Behavior& behavior, int32_t from, int32_t to, absl::Time now,
                      ScalerState& state);

// Drops the additions that an unrecorded change made until `now` may have replaced: those that are
// outdated. An addition lets the rules remove more later on, so it is safe to forget one, but not
// safe to keep one that was replaced.
void DropOutdatedAdditions(const Behavior& behavior, absl::Time now, ScalerState& state);

// Does the same for an addition between `earliest` and `latest` that is recorded next, if its exact
// time decides which entry it replaced. Otherwise nothing is dropped: an outdated addition counts
// until it is replaced, if the period was made longer, and holds back growth.
void DropReplaceableAdditions(const Behavior& behavior, absl::Time earliest, absl::Time latest,
                              ScalerState& state);

// The sum of the changes after `now` - `period_seconds`; it wraps.
int32_t ChangeWithin(const std::vector<ScaleEvent>& events, int32_t period_seconds, absl::Time now);

}  // namespace flyball::scaler
