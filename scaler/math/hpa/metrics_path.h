// The metrics path of a reconcile and its steps, each of which has a file of its own.
//
// Pure. Not here: whether the metrics are read at all, the writes, and how the status is made (all
// in hpa_decider.h).
//
// Source:  Kubernetes v1.34.4 horizontal.go, whose functions each step names; error texts included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/math/reconcile.h"

namespace flyball::scaler {

// Selector, proposals, the largest of them, windows, rules and bounds: fills everything in
// `decision` from the proposals to `desired`, with conditions and events. Returns "", or the reason
// why nothing may be decided; then the count is to be held. (validateAndParseSelector,
// computeReplicasForMetrics, normalizeDesiredReplicas and …WithBehaviors)
std::string FollowMetrics(const DecisionInput& input, const DecideOptions& options,
                          Workspace& workspace, Decision& decision);

// ---- one metric spec and its reading -> a proposal ----------------------------------------------

// The band in which the autoscaler's usage ratio changes nothing. Tolerances that a behavior states
// count only with MathConfig::configurable_tolerance.
Tolerance ToleranceOf(const Autoscaler& autoscaler, const MathConfig& config);

// Fills `proposal` for metrics[index] from readings[index]; the pods and the scale must be known.
// (computeReplicasForMetric and the computeStatusFor… functions)
void Propose(const DecisionInput& input, size_t index, const DecideOptions& options,
             Workspace& workspace, Proposal& proposal);

// ---- a recommendation is stabilised by the recent ones, and recorded ----------------------------

struct StabilizeInput {
  int32_t recommended = 0;  // the largest proposal, not below 0
  int32_t current = 0;
  absl::Time now;
};

// Without behavior: the highest recommendation of the window, even if the count grows. An entry
// exactly as old as the window still counts. (stabilizeRecommendation)
Stabilization StabilizeDown(const StabilizeInput& input, absl::Duration window, ScalerState& state);

// With behavior: the current count, moved only as far as both windows require.
// `default_down_window` replaces a missing one. An entry exactly as old as a window no longer
// counts.
// (stabilizeRecommendationWithBehaviors)
Stabilization StabilizeBothWays(const StabilizeInput& input, const Behavior& behavior,
                                absl::Duration default_down_window, ScalerState& state);

// ---- a stabilised count is limited by rules and bounds ------------------------------------------

// Fills `limiting`, whose buffers it reuses, and `desired` of a decision that is stabilised.
// Without behavior: at most twice the current count (or 4), then the bounds. With behavior: the
// rules of the direction that is taken, and that direction's bound. Percentages are computed in
// doubles as upstream does (100 + 10 % is 110.00000000000001, hence 111).
// (convertDesiredReplicasWithRules, convertDesiredReplicasWithBehaviorRate,
// calculateScaleUpLimitWithScalingRules, calculateScaleDownLimitWithBehaviors)
void Limit(const DecisionInput& input, Decision& decision);

// Reason and message of the condition ScalingLimited.
struct LimitWords {
  absl::string_view reason;
  absl::string_view message;
};
const LimitWords& WordsOf(LimitedBy by);

}  // namespace flyball::scaler
