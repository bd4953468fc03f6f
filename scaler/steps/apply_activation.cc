#include "scaler/steps/apply_activation.h"

#include <algorithm>

#include "scaler/math/recording.h"

namespace flyball::scaler {
namespace {

// Whether a metric failed or keeps asking for its last count, which ends some time. A count that a
// person has set for this case does not end, and is not unknown.
bool IsUnknown(const Proposal& proposal) {
  return !proposal.valid ||
         (proposal.verdict == Verdict::kInstead && proposal.valid_until != absl::InfiniteFuture());
}

void Rescale(const Activation& activation, Decision& decision) {
  decision.rescale = true;
  decision.desired = activation.replicas;
  decision.rescale_reason = activation.message;
}

}  // namespace

void ApplyActivation(const DecisionInput& input, const Activation& activation, Decision& decision) {
  SetCondition(decision,
               {.type = kActive,
                .status = activation.active ? ConditionStatus::kTrue : ConditionStatus::kFalse,
                .reason = activation.reason,
                .message = {activation.message}});
  if (activation.front.has_value()) {
    SetCondition(decision, {.type = kFrontReady,
                            .status = activation.front->ready ? ConditionStatus::kTrue
                                                              : ConditionStatus::kFalse,
                            .reason = activation.front->reason,
                            .message = {activation.front->message}});
  }
  switch (activation.step) {
    case ActivationStep::kFollowMetrics: break;
    case ActivationStep::kActivate:
      SetCondition(
          decision,
          {.type = kScalingActive, .reason = activation.reason, .message = {activation.message}});
      decision.outcome = Outcome::kBelowMin;
      Rescale(activation, decision);
      break;
    case ActivationStep::kWait:
      SetCondition(decision, {.type = kScalingActive,
                              .status = ConditionStatus::kFalse,
                              .reason = activation.reason,
                              .message = {activation.message}});
      break;
    case ActivationStep::kDeactivate:
      // The math holds only if the known metrics ask for less than the current count.
      if (decision.outcome != Outcome::kDecided ||
          std::any_of(decision.proposals.begin(), decision.proposals.end(), IsUnknown)) {
        break;
      }
      Rescale(activation, decision);
      break;
  }
  if (!decision.rescale) {
    decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
  }
}

}  // namespace flyball::scaler
