#include "scaler/math/reconcile.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scaler/math/history.h"
#include "scaler/math/recording.h"

namespace flyball::scaler {

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
