// Names in one word what kept a decision from the count that the load alone asks for: the label
// `reason` of flyball_autoscaler_limited.
//
// Pure. If several things limited the decision, the last of them in the order of the decision's
// steps is named, since that is the one to change first.
#pragma once

#include "absl/strings/string_view.h"
#include "scaler/math/decision.h"

namespace flyball::scaler {

// All the words, in the order of a decision's steps.
inline constexpr absl::string_view kLimitingReasons[] = {
    "none",               // nothing
    "scale_unknown",      // the target's scale could not be read
    "scaled_to_zero",     // by a person
    "metrics_failed",     // held, since unknown is not zero
    "tolerance",          // the load is near enough to the target
    "missing_pods",       // with the pods without samples, the load might point the other way
    "pending_capacity",   // pods that were asked for are still starting
    "stabilization",      // an earlier recommendation holds within its window
    "scale_up_policy",    // behavior.scaleUp
    "scale_down_policy",  // behavior.scaleDown
    "max_replicas",
    "min_replicas",
};

absl::string_view LimitingReason(const Decision& decision);

}  // namespace flyball::scaler
