#include "scaler/math/hpa/hpa_decider.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/history.h"
#include "scaler/math/hpa/metrics_path.h"
#include "scaler/math/recording.h"

namespace flyball::scaler {
namespace {

// Empties the decision but keeps its buffers.
void Reset(const DecisionInput& input, Decision& decision) {
  Decision fresh;
  fresh.proposals = std::move(decision.proposals);
  fresh.limiting = std::move(decision.limiting);
  fresh.basis = std::move(decision.basis);
  fresh.rescale_reason = std::move(decision.rescale_reason);
  fresh.rescale_reason.clear();
  fresh.status = std::move(decision.status);
  fresh.status = StoredStatus(input);
  fresh.events = std::move(decision.events);
  fresh.events.clear();
  fresh.monitor.metrics = std::move(decision.monitor.metrics);
  const bool own_state = input.state == &decision.state;
  fresh.state = std::move(decision.state);
  if (!own_state) fresh.state = *input.state;
  fresh.events_after_status = std::move(decision.events_after_status);
  fresh.events_after_status.clear();
  decision = std::move(fresh);
  decision.now = input.now;
  decision.min_replicas = input.autoscaler->min_or_default();
  decision.max_replicas = input.autoscaler->max_replicas;
}

void DecideWithoutScale(const DecisionInput& input, Decision& decision) {
  const ScaleAnswer& scale = *input.scale;
  decision.outcome = Outcome::kScaleUnknown;
  Warn("FailedGetScale", scale.error, decision.events);
  SetCondition(decision, {.type = kAbleToScale,
                          .status = ConditionStatus::kFalse,
                          .reason = "FailedGetScale",
                          .message = {"the HPA controller was unable to get the target's current "
                                      "scale: ",
                                      scale.error}});
  std::string error =
      absl::StrCat("failed to query scale subresource for ", TargetText(*input.autoscaler), ": ");
  if (scale.failure == ScaleAnswer::Failure::kApiVersion) {
    decision.monitor.error = ErrorLabel::kSpec;
    error = "invalid API version in scale target reference: ";
  } else if (scale.failure == ScaleAnswer::Failure::kMapping) {
    error = "unable to determine resource for scale target reference: ";
  }
  EndInError(input, absl::StrCat(error, scale.error), decision);
}

// Holds: the status is rebuilt with what is known and the desired count stays as it was.
void GiveUp(const DecisionInput& input, absl::string_view error, Decision& decision) {
  decision.outcome = Outcome::kMetricsFailed;
  RebuildStatus(input, decision.status.desired_replicas, decision);
  Warn("FailedComputeMetricsReplicas", error, decision.events_after_status);
  EndInError(input,
             absl::StrCat("failed to compute desired number of replicas based on listed metrics "
                          "for ",
                          TargetText(*input.autoscaler), ": ", error),
             decision);
}

// The three cases that read no metric.
void DecideByBounds(const DecisionInput& input, Decision& decision) {
  if (decision.current == 0 && (input.config->wakes_by_condition || decision.min_replicas != 0)) {
    decision.outcome = Outcome::kSwitchedOff;
    SetCondition(decision, {.type = kScalingActive,
                            .status = ConditionStatus::kFalse,
                            .reason = "ScalingDisabled",
                            .message = {"scaling is disabled since the replica count of the target "
                                        "is zero"}});
    if (input.config->wakes_by_condition && !input.config->scaled_to_zero_condition) {
      RemoveCondition(kScaledToZero, decision.status.conditions);
    }
    return;
  }
  decision.rescale = true;
  if (decision.current > decision.max_replicas) {
    decision.outcome = Outcome::kAboveMax;
    decision.desired = decision.max_replicas;
    decision.rescale_reason = "Current number of replicas above Spec.MaxReplicas";
  } else {
    decision.outcome = Outcome::kBelowMin;
    decision.desired = decision.min_replicas;
    decision.rescale_reason = "Current number of replicas below Spec.MinReplicas";
  }
}

// Whether the status says that the controller itself scaled the target to zero.
bool IsAsleep(const DecisionInput& input) {
  return input.config->scaled_to_zero_condition &&
         ConditionIsTrue(StoredStatus(input), kScaledToZero);
}

// Whether metrics are followed at zero replicas.
bool MayLeaveZero(const DecisionInput& input) {
  const int32_t min = input.autoscaler->min_or_default();
  if (!input.config->wakes_by_condition) return min == 0 && input.autoscaler->max_replicas >= 0;
  return IsAsleep(input) && (min != 0 || SeesLoadAtZero(*input.autoscaler));
}

// A target that the controller scaled to zero gets at least minReplicas when it is woken, if that
// was raised meanwhile, even if rules and windows allow less.
void RaiseToMinimum(const DecisionInput& input, Decision& decision) {
  if (decision.current != 0 || decision.min_replicas == 0 || !input.config->wakes_by_condition ||
      decision.desired >= decision.min_replicas) {
    return;
  }
  decision.desired = decision.min_replicas;
  if (decision.rescale_reason.empty()) {
    decision.rescale_reason = "Current number of replicas below Spec.MinReplicas";
  }
}

class ReplicaMath : public Decider {
 public:
  bool ReadsMetrics(const DecisionInput& input) const override {
    if (input.scale->failure != ScaleAnswer::Failure::kNone) return false;
    const int32_t current = input.scale->spec_replicas;
    if (current == 0) return MayLeaveZero(input);
    return current <= input.autoscaler->max_replicas &&
           current >= input.autoscaler->min_or_default();
  }

  void Decide(const DecisionInput& input, const DecideOptions& options, Workspace& workspace,
              Decision& decision) const override {
    Reset(input, decision);
    if (input.scale->failure != ScaleAnswer::Failure::kNone) {
      DecideWithoutScale(input, decision);
    } else {
      DecideWithScale(input, options, workspace, decision);
    }
    // Clears what an earlier decision left in the buffers.
    if (!decision.metrics_computed) {
      decision.proposals.clear();
      decision.monitor.metrics.clear();
    }
    if (decision.outcome != Outcome::kDecided) decision.limiting.reset();
  }

 private:
  void DecideWithScale(const DecisionInput& input, const DecideOptions& options,
                       Workspace& workspace, Decision& decision) const {
    decision.current = input.scale->spec_replicas;
    decision.status_replicas = input.scale->status_replicas;
    SetCondition(decision, {.type = kAbleToScale,
                            .reason = "SucceededGetScale",
                            .message = {"the HPA controller was able to get the target's current "
                                        "scale"}});
    RecordInitialRecommendation(decision.current, input.now, decision.state);
    if (!ReadsMetrics(input)) {
      DecideByBounds(input, decision);
    } else if (const std::string error = FollowMetrics(input, options, workspace, decision);
               !error.empty()) {
      return GiveUp(input, error, decision);
    } else {
      RaiseToMinimum(input, decision);
      decision.rescale = decision.desired != decision.current;
    }
    if (decision.rescale) return;  // RecordScaleWrite completes the status
    decision.desired = decision.current;
    RebuildStatus(input, decision.desired, decision);
    decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
  }
};

}  // namespace

const Decider& HpaDecider() {
  static const ReplicaMath decider;
  return decider;
}

}  // namespace flyball::scaler
