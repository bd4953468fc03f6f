#include "scaler/math/reconcile.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/math/combine.h"
#include "scaler/math/conditions.h"
#include "scaler/math/history.h"
#include "scaler/math/limit.h"
#include "scaler/math/propose.h"
#include "scaler/math/stabilize.h"

namespace flyball::scaler {
namespace {

const AutoscalerStatus& StoredStatus(const DecisionInput& input) {
  return input.status != nullptr ? *input.status : input.autoscaler->status;
}

// How errors call the target: "Deployment/prod/web".
std::string TargetText(const Autoscaler& autoscaler) {
  return absl::StrCat(autoscaler.scale_target.kind, "/", autoscaler.ns, "/",
                      autoscaler.scale_target.name);
}

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
  fresh.state = std::move(decision.state);
  fresh.state = *input.state;
  fresh.events_after_status = std::move(decision.events_after_status);
  fresh.events_after_status.clear();
  decision = std::move(fresh);
  decision.now = input.now;
  decision.min_replicas = input.autoscaler->min_or_default();
  decision.max_replicas = input.autoscaler->max_replicas;
}

void SetCondition(Decision& decision, const ConditionUpdate& update) {
  SetCondition(update, decision.now, decision.status.conditions);
}

void Warn(absl::string_view reason, absl::string_view message, std::vector<Event>& events) {
  events.push_back(
      {.warning = true, .reason = std::string(reason), .message = std::string(message)});
}

// Rebuilds the status as upstream does: observedGeneration is lost, conditions are kept.
void RebuildStatus(const DecisionInput& input, int32_t desired, Decision& decision) {
  AutoscalerStatus& status = decision.status;
  status.observed_generation.reset();
  status.current_replicas = decision.current;
  status.desired_replicas = desired;
  const size_t count = decision.metrics_computed ? decision.proposals.size() : 0;
  status.current_metrics.resize(count);
  for (size_t i = 0; i < count; ++i) {
    FillMetricStatus(input.autoscaler->metrics[i], decision.proposals[i],
                     status.current_metrics[i]);
  }
}

// The reconcile ends in `error`, whatever becomes of the status write.
void EndInError(const DecisionInput& input, std::string error, Decision& decision) {
  decision.error = std::move(error);
  decision.error_outlives_status = true;
  decision.rescale = false;
  decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
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
  std::string error;
  switch (scale.failure) {
    case ScaleAnswer::Failure::kApiVersion:
      decision.monitor.error = ErrorLabel::kSpec;
      error = "invalid API version in scale target reference: ";
      break;
    case ScaleAnswer::Failure::kMapping:
      error = "unable to determine resource for scale target reference: ";
      break;
    case ScaleAnswer::Failure::kNone:
    case ScaleAnswer::Failure::kRead:
      error = absl::StrCat("failed to query scale subresource for ", TargetText(*input.autoscaler),
                           ": ");
      break;
  }
  EndInError(input, absl::StrCat(error, scale.error), decision);
}

// "" when the pods behind the selector are known and this autoscaler's alone; else the error, with
// its condition and event set.
std::string CheckSelector(const DecisionInput& input, Decision& decision) {
  const auto refuse = [&](absl::string_view reason, absl::string_view event,
                          absl::string_view message) {
    Warn(reason, event, decision.events);
    SetCondition(decision, {.type = kScalingActive,
                            .status = ConditionStatus::kFalse,
                            .reason = reason == "SelectorRequired" ? "InvalidSelector" : reason,
                            .message = {message}});
    return std::string(event);
  };
  const std::string& selector = input.scale->selector;
  const PodsAnswer& pods = *input.pods;
  if (selector.empty()) {
    return refuse("SelectorRequired", "selector is required",
                  "the HPA target's scale is missing a selector");
  }
  if (!pods.selector_error.empty()) {
    const std::string text =
        absl::StrCat("couldn't convert selector into a corresponding internal selector object: ",
                     pods.selector_error);
    return refuse("InvalidSelector", text, text);
  }
  if (!pods.list_error.empty()) return pods.list_error;
  if (pods.rivals.size() > 1) {
    const std::string text =
        absl::StrCat("pods by selector ", selector, " are controlled by multiple HPAs: [",
                     absl::StrJoin(pods.rivals, " "), "]");
    return refuse("AmbiguousSelector", text, text);
  }
  return "";
}

void LabelProposal(const MetricSpec& metric, const Proposal& proposal, int32_t shown,
                   MetricLabels& labels) {
  labels.type = metric.type_text;
  labels.action = ActionLabel::kNone;
  labels.error = ErrorLabel::kNone;
  if (!proposal.valid) {
    labels.error = proposal.spec_fault ? ErrorLabel::kSpec : ErrorLabel::kInternal;
  } else if (proposal.replicas > shown) {
    labels.action = ActionLabel::kScaleUp;
  } else if (proposal.replicas < shown) {
    labels.action = ActionLabel::kScaleDown;
  }
}

// Whether the last decision's proposals may still hold: everything but readings and time is the
// same.
bool SameBasis(const DecisionInput& input, const DecideOptions& options, const Decision& decision) {
  const Decision::Basis& basis = decision.basis;
  return input.spec_version != 0 && input.spec_version == basis.spec_version &&
         input.pods->version != 0 && input.pods->version == basis.pods_version &&
         input.scale->spec_replicas == basis.spec_replicas &&
         input.scale->status_replicas == basis.status_replicas &&
         options.pod_detail == basis.pod_detail && input.now >= basis.now &&
         decision.proposals.size() == input.autoscaler->metrics.size() &&
         basis.reading_versions.size() == decision.proposals.size();
}

void RememberBasis(const DecisionInput& input, const DecideOptions& options, Decision& decision) {
  Decision::Basis& basis = decision.basis;
  basis.spec_version = input.spec_version;
  basis.pods_version = input.pods->version;
  basis.spec_replicas = input.scale->spec_replicas;
  basis.status_replicas = input.scale->status_replicas;
  basis.pod_detail = options.pod_detail;
  basis.now = input.now;
  basis.reading_versions.resize(input.readings.size());
  for (size_t i = 0; i < input.readings.size(); ++i) {
    basis.reading_versions[i] = input.readings[i].version;
  }
}

// Keeps a proposal whose reading did not change; false: it has to be made anew.
bool KeepProposal(const DecisionInput& input, size_t index, Decision& decision) {
  const Reading& reading = input.readings[index];
  Proposal& proposal = decision.proposals[index];
  if (reading.version == 0 || reading.version != decision.basis.reading_versions[index] ||
      !proposal.valid || input.now >= proposal.valid_until) {
    return false;
  }
  if (proposal.reading_time.has_value()) proposal.age = input.now - *proposal.reading_time;
  ++decision.proposals_kept;
  return true;
}

// All proposals; each invalid one says so in an event.
void ComputeProposals(const DecisionInput& input, const DecideOptions& options,
                      Workspace& workspace, Decision& decision) {
  const std::vector<MetricSpec>& metrics = input.autoscaler->metrics;
  const bool may_keep = SameBasis(input, options, decision);
  decision.metrics_computed = true;
  decision.proposals.resize(metrics.size());
  decision.monitor.metrics.resize(metrics.size());
  // Upstream's labels compare with the last written status, not with the scale.
  const int32_t shown = StoredStatus(input).current_replicas;
  for (size_t i = 0; i < metrics.size(); ++i) {
    Proposal& proposal = decision.proposals[i];
    if (!may_keep || !KeepProposal(input, i, decision)) {
      Propose(input, i, options, workspace, proposal);
    }
    if (!proposal.valid) Warn(proposal.reason, proposal.error, decision.events);
    LabelProposal(metrics[i], proposal, shown, decision.monitor.metrics[i]);
  }
  RememberBasis(input, options, decision);
  decision.combination = Combine(decision.proposals, decision.current);
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

void StabilizeAndLimit(const DecisionInput& input, Decision& decision) {
  const std::optional<Behavior>& behavior = input.autoscaler->behavior;
  const StabilizeInput recommended{
      .recommended = decision.recommendation, .current = decision.current, .now = input.now};
  const absl::Duration window = input.config->downscale_stabilization;
  decision.stabilization = behavior.has_value()
                               ? StabilizeBothWays(recommended, *behavior, window, decision.state)
                               : StabilizeDown(recommended, window, decision.state);
  const int32_t stabilized = decision.stabilization->after;
  if (stabilized == decision.recommendation) {
    SetCondition(decision, {.type = kAbleToScale,
                            .reason = "ReadyForNewScale",
                            .message = {"recommended size matches current size"}});
  } else if (behavior.has_value() && decision.recommendation >= decision.current) {
    SetCondition(decision, {.type = kAbleToScale,
                            .reason = "ScaleUpStabilized",
                            .message = {"recent recommendations were lower than current one, "
                                        "applying the lowest recent recommendation"}});
  } else {
    SetCondition(decision, {.type = kAbleToScale,
                            .reason = "ScaleDownStabilized",
                            .message = {"recent recommendations were higher than current one, "
                                        "applying the highest recent recommendation"}});
  }

  const LimitInput limit{.stabilized = stabilized,
                         .current = decision.current,
                         .min_replicas = decision.min_replicas,
                         .max_replicas = decision.max_replicas,
                         .now = input.now};
  if (!decision.limiting.has_value()) decision.limiting.emplace();
  if (behavior.has_value()) {
    LimitByBehavior(limit, *behavior, decision.state, *decision.limiting);
  } else {
    LimitByDefault(limit, *decision.limiting);
  }
  decision.desired = decision.limiting->after;
  SetCondition(decision, {.type = kScalingLimited,
                          .status = decision.desired == stabilized ? ConditionStatus::kFalse
                                                                   : ConditionStatus::kTrue,
                          .reason = LimitReason(decision.limiting->by),
                          .message = {LimitMessage(decision.limiting->by)}});
}

// The metrics path. False: it gave up.
bool FollowMetrics(const DecisionInput& input, const DecideOptions& options, Workspace& workspace,
                   Decision& decision) {
  if (const std::string error = CheckSelector(input, decision); !error.empty()) {
    GiveUp(input, error, decision);
    return false;
  }
  ComputeProposals(input, options, workspace, decision);
  const Combination& combination = *decision.combination;
  if (combination.gave_up) {
    for (const Proposal& proposal : decision.proposals) {
      if (proposal.valid) continue;
      SetCondition(decision, {.type = kScalingActive,
                              .status = ConditionStatus::kFalse,
                              .reason = proposal.reason,
                              .message = {"the HPA was unable to compute the replica count: ",
                                          proposal.error}});
      break;
    }
    GiveUp(input, combination.error, decision);
    return false;
  }
  absl::string_view winner;
  if (combination.winner.has_value()) winner = decision.proposals[*combination.winner].name;
  SetCondition(decision, {.type = kScalingActive,
                          .reason = "ValidMetricFound",
                          .message = {"the HPA was able to successfully calculate a replica count "
                                      "from ",
                                      winner}});
  decision.error = combination.error;
  decision.outcome = Outcome::kDecided;
  decision.recommendation = std::max(0, combination.replicas);
  // Fixed before windows and limits: they may turn the direction round.
  if (decision.recommendation > decision.current) {
    absl::StrAppend(&decision.rescale_reason, winner, " above target");
  } else if (decision.recommendation < decision.current) {
    decision.rescale_reason = "All metrics below target";
  }
  StabilizeAndLimit(input, decision);
  decision.rescale = decision.desired != decision.current;
  return true;
}

// The three cases that read no metric.
void DecideByBounds(Decision& decision) {
  if (decision.current == 0 && decision.min_replicas != 0) {
    decision.outcome = Outcome::kSwitchedOff;
    SetCondition(decision, {.type = kScalingActive,
                            .status = ConditionStatus::kFalse,
                            .reason = "ScalingDisabled",
                            .message = {"scaling is disabled since the replica count of the target "
                                        "is zero"}});
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

void DecideWithScale(const DecisionInput& input, const DecideOptions& options, Workspace& workspace,
                     Decision& decision) {
  decision.current = input.scale->spec_replicas;
  decision.status_replicas = input.scale->status_replicas;
  SetCondition(decision, {.type = kAbleToScale,
                          .reason = "SucceededGetScale",
                          .message = {"the HPA controller was able to get the target's current "
                                      "scale"}});
  RecordInitialRecommendation(decision.current, input.now, decision.state);
  if (!ReadsMetrics(*input.autoscaler, *input.scale)) {
    DecideByBounds(decision);
  } else if (!FollowMetrics(input, options, workspace, decision)) {
    return;
  }
  if (decision.rescale) return;  // RecordScaleWrite completes the status
  decision.desired = decision.current;
  RebuildStatus(input, decision.desired, decision);
  decision.status_changed = !SemanticallyEqual(StoredStatus(input), decision.status);
}

}  // namespace

bool ReadsMetrics(const Autoscaler& autoscaler, const ScaleAnswer& scale) {
  if (scale.failure != ScaleAnswer::Failure::kNone) return false;
  const int32_t min = autoscaler.min_or_default();
  if (scale.spec_replicas == 0 && min != 0) return false;
  return scale.spec_replicas <= autoscaler.max_replicas && scale.spec_replicas >= min;
}

void Decide(const DecisionInput& input, const DecideOptions& options, Workspace& workspace,
            Decision& decision) {
  Reset(input, decision);
  if (input.scale->failure != ScaleAnswer::Failure::kNone) {
    DecideWithoutScale(input, decision);
  } else {
    DecideWithScale(input, options, workspace, decision);
  }
  // What an earlier decision left in the kept buffers.
  if (!decision.metrics_computed) {
    decision.proposals.clear();
    decision.monitor.metrics.clear();
  }
  if (decision.outcome != Outcome::kDecided) decision.limiting.reset();
}

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
