#include "scaler/math/hpa/metrics_path.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "scaler/math/pending_capacity.h"
#include "scaler/math/recording.h"

namespace flyball::scaler {
namespace {

// The error for autoscalers that share a pod.
std::string RivalsError(const std::string& selector, const Rivals& rivals, RivalsText text) {
  const bool two = text == RivalsText::kTwoForExample;
  const size_t shown = two ? std::min<size_t>(rivals.names.size(), 2) : rivals.names.size();
  std::string list = absl::StrJoin(absl::MakeConstSpan(rivals.names).first(shown), " ");
  if (!two && rivals.total > shown) absl::StrAppend(&list, " and ", rivals.total - shown, " more");
  return absl::StrCat(
      "pods by selector ", selector,
      text == RivalsText::kMultiple
          ? absl::StrCat(" are controlled by multiple HPAs: [", list, "]")
          : absl::StrCat(" are controlled by more than one HPA (e.g. [", list, "])"));
}

// "" if the pods behind the selector are known and no other autoscaler selects them; else the
// error, with its condition and event set.
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
  if (input.deleted && input.config->stops_when_deleted) {
    return absl::StrCat("HPA ", input.autoscaler->ns, "/", input.autoscaler->name,
                        " was deleted during reconciliation");
  }
  if (!pods.list_error.empty()) return pods.list_error;
  if (pods.rivals != nullptr && pods.rivals->total > 1) {
    const std::string text = RivalsError(selector, *pods.rivals, input.config->rivals_text);
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

// Whether the last decision's proposals may still be valid: nothing but readings and time has
// changed.
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

// Keeps a proposal whose reading did not change; false: it has to be computed.
bool KeepProposal(const DecisionInput& input, size_t index, Decision& decision) {
  const Reading& reading = input.readings[index];
  Proposal& proposal = decision.proposals[index];
  if (reading.version == 0 || reading.version != decision.basis.reading_versions[index] ||
      !proposal.valid || input.now >= proposal.valid_until) {
    return false;
  }
  // The same amounts may have been read again since.
  if (proposal.timestamp.has_value()) proposal.timestamp = reading.timestamp;
  proposal.reading_time = reading.timestamp;
  if (proposal.reading_time.has_value()) proposal.age = input.now - *proposal.reading_time;
  ++decision.proposals_kept;
  return true;
}

// The largest proposal, or a reason to hold. Unknown is not zero: a metric that failed forbids
// shrinking, and when all failed nothing changes. `current` is the scale's spec.replicas.
Combination Combine(const std::vector<Proposal>& proposals, int32_t current) {
  Combination out;
  out.total = proposals.size();
  const Proposal* first_invalid = nullptr;
  for (size_t i = 0; i < proposals.size(); ++i) {
    const Proposal& proposal = proposals[i];
    if (!proposal.valid) {
      ++out.invalid;
      if (first_invalid == nullptr) first_invalid = &proposal;
      continue;
    }
    // As in upstream: a negative proposal only counts until the next larger one.
    if (out.replicas == 0 || proposal.replicas > out.replicas) {
      out.replicas = proposal.replicas;
      out.winner = i;
    }
  }
  if (first_invalid != nullptr) {
    out.spec_fault = first_invalid->spec_fault;
    out.error = absl::StrCat("invalid metrics (", out.invalid, " invalid out of ", out.total,
                             "), first error is: ", first_invalid->wrapped_error);
  }
  if (proposals.empty()) out.error = "no metric is specified";
  out.gave_up = out.invalid >= out.total || (out.invalid > 0 && out.replicas < current);
  return out;
}

// Computes all proposals and adds an event for each invalid one.
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
  if (decision.combination->spec_fault && input.config->spec_fault_labels_reconcile) {
    decision.monitor.error = ErrorLabel::kSpec;
  }
}

void StabilizeAndLimit(const DecisionInput& input, Decision& decision) {
  const std::optional<Behavior>& behavior = input.autoscaler->behavior;
  const StabilizeInput recommended{
      .recommended = decision.recommendation, .current = decision.current, .now = input.now};
  const absl::Duration window = input.config->downscale_stabilization;
  decision.stabilization = behavior.has_value()
                               ? StabilizeBothWays(recommended, *behavior, window, decision.state)
                               : StabilizeDown(recommended, window, decision.state);
  // An earlier recommendation, from before growth had to wait, must not grow the target either.
  if (decision.pending.has_value()) {
    decision.stabilization->after = std::min(decision.stabilization->after, decision.current);
  }
  const int32_t stabilized = decision.stabilization->after;
  absl::string_view reason = "ReadyForNewScale";
  absl::string_view message = "recommended size matches current size";
  if (stabilized != decision.recommendation) {
    const bool up = behavior.has_value() && decision.recommendation >= decision.current;
    reason = up ? "ScaleUpStabilized" : "ScaleDownStabilized";
    message = up ? "recent recommendations were lower than current one, applying the lowest recent "
                   "recommendation"
                 : "recent recommendations were higher than current one, applying the highest "
                   "recent recommendation";
  }
  SetCondition(decision, {.type = kAbleToScale, .reason = reason, .message = {message}});

  Limit(input, decision);
  const LimitWords& words = WordsOf(decision.limiting->by);
  SetCondition(decision, {.type = kScalingLimited,
                          .status = decision.desired == stabilized ? ConditionStatus::kFalse
                                                                   : ConditionStatus::kTrue,
                          .reason = words.reason,
                          .message = {words.message}});
}

// The status shows growth that waits for pods like the other limits.
void TellPending(const PendingHold& pending, Decision& decision) {
  SetCondition(decision,
               {.type = kScalingLimited,
                .reason = "PendingCapacity",
                .message = {"the pods that were asked for have not all taken their share of the "
                            "load: ",
                            absl::StrCat(pending.loading), " not ready yet, ",
                            absl::StrCat(pending.settling),
                            " ready for less time than they "
                            "took to be"}});
}

}  // namespace

std::string FollowMetrics(const DecisionInput& input, const DecideOptions& options,
                          Workspace& workspace, Decision& decision) {
  if (std::string error = CheckSelector(input, decision); !error.empty()) return error;
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
    return combination.error;
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
  if (input.autoscaler->pending_capacity) {
    decision.pending = GrowthWaitsFor(input, decision.recommendation, decision.state);
    if (decision.pending.has_value()) decision.recommendation = decision.pending->after;
  }
  // The reason is set before windows and limits are applied, which may reverse the direction.
  if (decision.recommendation > decision.current) {
    // As upstream: no metric is named if the largest proposal is not above zero.
    absl::StrAppend(&decision.rescale_reason, combination.replicas > 0 ? winner : "",
                    " above target");
  } else if (decision.recommendation < decision.current) {
    decision.rescale_reason = "All metrics below target";
  }
  StabilizeAndLimit(input, decision);
  if (decision.pending.has_value() && decision.pending->held()) {
    TellPending(*decision.pending, decision);
  }
  return "";
}

}  // namespace flyball::scaler
