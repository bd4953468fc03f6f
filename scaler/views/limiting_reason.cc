#include "scaler/views/limiting_reason.h"

namespace flyball::scaler {
namespace {

// The reason of a decision that followed its metrics and that no bound or policy limited.
absl::string_view BeforeTheLimits(const Decision& decision) {
  if (decision.stabilization.has_value() && decision.stabilization->held()) return "stabilization";
  if (decision.pending.has_value() && decision.pending->held()) return "pending_capacity";
  if (!decision.winner().has_value()) return "none";
  const Proposal& winner = decision.proposals[*decision.winner()];
  switch (winner.verdict) {
    case Verdict::kWithinTolerance: return "tolerance";
    case Verdict::kWouldFlip:
    case Verdict::kWouldReverse: return "missing_pods";
    case Verdict::kInstead: return winner.activity_only ? "none" : "metrics_failed";
    case Verdict::kFailed:
    case Verdict::kComputed: break;
  }
  return "none";
}

}  // namespace

absl::string_view LimitingReason(const Decision& decision) {
  switch (decision.outcome) {
    case Outcome::kScaleUnknown: return "scale_unknown";
    case Outcome::kSwitchedOff: return "scaled_to_zero";
    case Outcome::kMetricsFailed: return "metrics_failed";
    case Outcome::kAboveMax: return "max_replicas";
    case Outcome::kBelowMin: return "min_replicas";
    case Outcome::kDecided: break;
  }
  switch (decision.limiting.has_value() ? decision.limiting->by : LimitedBy::kNothing) {
    case LimitedBy::kScaleUpLimit: return "scale_up_policy";
    case LimitedBy::kScaleDownLimit: return "scale_down_policy";
    case LimitedBy::kMaxReplicas: return "max_replicas";
    case LimitedBy::kMinReplicas: return "min_replicas";
    case LimitedBy::kNothing: break;
  }
  return BeforeTheLimits(decision);
}

}  // namespace flyball::scaler
