#include "scaler/math/reconcile.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/history.h"
#include "scaler/math/recording.h"

namespace flyball::scaler {
namespace {

// Sets the condition at every change of the scale, so that it never belongs to an earlier change.
void SetScaledToZero(const DecisionInput& input, Decision& decision) {
  if (!input.config->wakes_by_condition) return;
  if (!input.config->scaled_to_zero_condition) {
    return RemoveCondition(kScaledToZero, decision.status.conditions);
  }
  const bool asleep = decision.current > 0 && decision.desired == 0 &&
                      input.autoscaler->min_or_default() == 0 && SeesLoadAtZero(*input.autoscaler);
  SetCondition(decision,
               {.type = kScaledToZero,
                .status = asleep ? ConditionStatus::kTrue : ConditionStatus::kFalse,
                .reason = asleep ? "ScaledToZero" : "NotScaledToZero",
                .message = {asleep ? "the HPA controller scaled the workload to zero"
                                   : "the HPA controller did not scale the workload to zero"}});
}

}  // namespace

void RecordScaleWrite(const DecisionInput& input, absl::string_view error, Decision& decision) {
  if (!error.empty()) {
    Warn("FailedRescale",
         absl::StrCat("New size: ", decision.desired, "; reason: ", decision.rescale_reason,
                      "; error: ", error),
         decision.events);
    SetCondition(
        decision,
        {.type = kAbleToScale,
         .status = ConditionStatus::kFalse,
         .reason = "FailedUpdateScale",
         .message = {"the HPA controller was unable to update the target scale: ", error}});
    RebuildStatus(input, decision.status.desired_replicas, decision);
    decision.monitor.error = ErrorLabel::kInternal;
    return EndInError(
        input, absl::StrCat("failed to rescale ", TargetText(*input.autoscaler), ": ", error),
        decision);
  }
  decision.rescaled = true;
  SetCondition(decision, {.type = kAbleToScale,
                          .reason = "SucceededRescale",
                          .message = {"the HPA controller was able to update the target scale to ",
                                      absl::AlphaNum(decision.desired).Piece()}});
  decision.events.push_back({.reason = "SuccessfulRescale",
                             .message = absl::StrCat("New size: ", decision.desired,
                                                     "; reason: ", decision.rescale_reason)});
  if (input.autoscaler->behavior.has_value()) {
    RecordScaleEvent(*input.autoscaler->behavior, decision.current, decision.desired, input.now,
                     decision.state);
  }
  SetScaledToZero(input, decision);
  decision.monitor.action =
      decision.desired > decision.current ? ActionLabel::kScaleUp : ActionLabel::kScaleDown;
  RebuildStatus(input, decision.desired, decision);
  decision.status.last_scale_time = input.now;
  decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
}

void RecordStatusWrite(const DecisionInput& input, absl::string_view error, Decision& decision) {
  if (!error.empty()) {
    Warn("FailedUpdateStatus", error, decision.events);
    if (!decision.error_outlives_status) {
      decision.error =
          absl::StrCat("failed to update status for ", input.autoscaler->name, ": ", error);
      decision.monitor.error = ErrorLabel::kInternal;
    }
  }
  for (Event& event : decision.events_after_status) decision.events.push_back(std::move(event));
  decision.events_after_status.clear();
  if (decision.error.empty()) {
    decision.monitor.error = ErrorLabel::kNone;
  } else if (decision.monitor.error == ErrorLabel::kNone) {
    decision.monitor.error = ErrorLabel::kInternal;
  }
}

}  // namespace flyball::scaler
