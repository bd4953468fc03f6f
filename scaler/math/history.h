// What an autoscaler remembers: past recommendations and past changes of the scale.
//
// Pure. Lists grow only while no entry is old enough to be overwritten; they are not ordered by
// time.
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

// The first entry ever: the count found. Stamped a microsecond before `now`, for upstream reads the
// clock again before it compares with a window.
void RecordInitialRecommendation(int32_t current, absl::Time now, ScalerState& state);

// Puts the recommendation in place of entry `outdated`, or at the end.
void RecordRecommendation(const Recommendation& recommendation, std::optional<size_t> outdated,
                          ScalerState& state);

// Stores a change of the scale that was made. An entry older than the direction's longest policy
// period gives up its place.
void RecordScaleEvent(const Behavior& behavior, int32_t from, int32_t to, absl::Time now,
                      ScalerState& state);

// Leaves out the additions to whose places a later one would have come. For who does not know
// whether there was a later one: an addition that is forgotten allows no removal.
void DropReplaceableAdditions(const Behavior& behavior, absl::Time now, ScalerState& state);

// The changes after `now` - `period_seconds`, summed; wraps.
int32_t ChangeWithin(const std::vector<ScaleEvent>& events, int32_t period_seconds, absl::Time now);

}  // namespace flyball::scaler
