// In one word, what kept a decision from being the count that the load alone asks for: the label
// `reason` of flyball_autoscaler_limited.
//
// Pure. Where several things held it back, the last of them in the order of the decision is named,
// since that is the one to change first.
#pragma once

#include "absl/strings/string_view.h"
#include "scaler/math/decision.h"

namespace flyball::scaler {

// All the words there are, in the order of a decision.
inline constexpr absl::string_view kLimitingReasons[] = {
    "none",               // nothing
    "scale_unknown",      // the target's scale could not be read
    "scaled_to_zero",     // by a person
    "metrics_failed",     // unknown is not zero: held
    "tolerance",          // the load is near enough to the target
    "missing_pods",       // with the pods that say nothing, the load might point the other way
    "pending_capacity",   // pods that were asked for are still starting
    "stabilization",      // an earlier recommendation holds within its window
    "scale_up_policy",    // behavior.scaleUp
    "scale_down_policy",  // behavior.scaleDown
    "max_replicas",
    "min_replicas",
};

absl::string_view LimitingReason(const Decision& decision);

}  // namespace flyball::scaler
