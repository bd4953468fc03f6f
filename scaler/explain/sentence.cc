#include "scaler/explain/sentence.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/explain/amounts.h"

namespace flyball::scaler {
namespace {

bool CountsPods(const Proposal& proposal) {
  return proposal.formula == Formula::kPodAverage || proposal.formula == Formula::kPodUtilization;
}
bool IsOfTotal(const Proposal& proposal) {
  return proposal.formula == Formula::kTotalFromZero ||
         proposal.formula == Formula::kTotalOverTarget;
}
double LastRatio(const Proposal& proposal) {
  return proposal.refilled ? proposal.refilled_ratio : proposal.ratio;
}

// The target that the metric is compared with: in thousandths, or in percent of the request.
double TargetOf(const Proposal& proposal) {
  return proposal.formula == Formula::kPodUtilization ? proposal.target_utilization
                                                      : static_cast<double>(proposal.target_milli);
}

std::string Above(double amount, const MetricSpec& metric, const Proposal& proposal) {
  return absl::StrCat(CountsPods(proposal)  ? "a mean above "
                      : IsOfTotal(proposal) ? "a total above "
                                            : "a value above ",
                      proposal.formula == Formula::kPodUtilization
                          ? absl::StrCat(ShowNumber(amount, 1), "%")
                          : ShowAmount(amount, metric));
}

// How much has to be measured before one more replica is needed.
std::string OneMoreOnlyAbove(const MetricSpec& metric, const Proposal& proposal) {
  const double carried = TargetOf(proposal) * proposal.replicas;
  return Above(IsOfTotal(proposal) ? carried : carried / proposal.multiplier, metric, proposal);
}

std::string Product(const MetricSpec& metric, const Proposal& proposal) {
  if (IsOfTotal(proposal)) {
    return absl::StrCat(ShowAmount(proposal.sum_milli, metric), " / ",
                        ShowAmount(proposal.target_milli, metric), " = ",
                        ShowNumber(static_cast<double>(proposal.sum_milli) / TargetOf(proposal)));
  }
  return absl::StrCat(ShowNumber(LastRatio(proposal)), " x ",
                      ShowCount(static_cast<int64_t>(proposal.multiplier),
                                CountsPods(proposal) ? "pod" : "ready pod"),
                      " = ", ShowNumber(LastRatio(proposal) * proposal.multiplier));
}

// How much has to be measured before the tolerance ends and the count grows.
std::string GrowsAbove(const MetricSpec& metric, const Proposal& proposal) {
  const double most = TargetOf(proposal) * proposal.tolerance.high();
  return Above(IsOfTotal(proposal) ? most * proposal.base_replicas : most, metric, proposal);
}

std::string Band(const Tolerance& tolerance) {
  return absl::StrCat(ShowNumber(tolerance.low()), " to ", ShowNumber(tolerance.high()));
}

std::string ShowPolicy(const ScalingPolicy& policy) {
  const absl::string_view pods = policy.value == 1 ? " pod" : " pods";
  const absl::string_view kind = policy.type == PolicyType::kPods ? pods : "%";
  return absl::StrCat(policy.value, kind, " in ", ShowAge(absl::Seconds(policy.period_seconds)));
}

const ScalingRules* RulesOf(const GivenCase& given) {
  const std::optional<Behavior>& behavior = given.autoscaler.behavior;
  if (!behavior.has_value()) return nullptr;
  return given.decision.limiting->up ? &behavior->scale_up : &behavior->scale_down;
}

std::string ShowPolicyLimit(const ScalingRules& rules, const PolicyLimit& policy) {
  std::string changes;
  if (policy.added > 0) absl::StrAppend(&changes, ", ", policy.added, " added since");
  if (policy.removed > 0) absl::StrAppend(&changes, ", ", policy.removed, " removed since");
  return absl::StrCat(ShowPolicy(rules.policies[policy.policy]), " from ", policy.period_start,
                      changes, " allows ", policy.limit);
}

// The policy that set the limit, or all rules if no single one did.
std::string ShowCountingRule(const GivenCase& given) {
  const Limiting& limiting = *given.decision.limiting;
  const ScalingRules* rules = RulesOf(given);
  if (rules == nullptr || limiting.disabled || !limiting.policy.has_value())
    return ShowRules(given);
  return ShowPolicyLimit(*rules, limiting.policies[*limiting.policy]);
}

// "orders_waiting asks for 8 (229 / 30 = 7.6333)", or the window's count if that counts.
std::string WhatIsAskedFor(const GivenCase& given) {
  const Decision& decision = given.decision;
  const int32_t asked = decision.limiting->before;
  const bool held = decision.stabilization.has_value() && decision.stabilization->held();
  if (held || !decision.winner().has_value()) {
    return absl::StrCat("past and present recommendations ask for ", asked);
  }
  const size_t winner = *decision.winner();
  const MetricSpec& metric = given.autoscaler.metrics[winner];
  const Proposal& proposal = decision.proposals[winner];
  const std::string product = proposal.verdict == Verdict::kComputed
                                  ? absl::StrCat(" (", Product(metric, proposal), ")")
                                  : "";
  return absl::StrCat(ShowMetricName(metric), " asks for ", asked, product);
}

std::string ShowBound(bool maximum, const Decision& decision) {
  return maximum ? absl::StrCat("maxReplicas is ", decision.max_replicas, "; ")
                 : absl::StrCat("minReplicas is ", decision.min_replicas, "; ");
}

std::string WhyLimited(const GivenCase& given) {
  const LimitedBy by = given.decision.limiting->by;
  const std::string asked = WhatIsAskedFor(given);
  if (by == LimitedBy::kScaleUpLimit || by == LimitedBy::kScaleDownLimit) {
    return absl::StrCat("it may not ", by == LimitedBy::kScaleUpLimit ? "grow" : "shrink",
                        " faster now, ", ShowCountingRule(given), "; ", asked);
  }
  return absl::StrCat(ShowBound(by == LimitedBy::kMaxReplicas, given.decision), asked);
}

std::string WhyPending(const PendingHold& pending) {
  return absl::StrCat("the metrics ask for ", pending.before, ", but growing waits for the pods ",
                      "that were asked for: ", pending.loading, " not ready yet, ",
                      pending.settling, " ready for less time than they took to be");
}

std::string WhyStabilized(const Decision& decision) {
  const Stabilization& window = *decision.stabilization;
  const bool shrinking = window.after > window.before;
  std::string by;
  if (window.by.has_value()) {
    const absl::Duration ago = decision.now - window.by->time;
    by = ago < absl::Seconds(1)
             ? absl::StrCat(" (", window.by->replicas, " is today's size)")
             : absl::StrCat(" (", window.by->replicas, " was asked for ", ShowAge(ago), " ago)");
  }
  return absl::StrCat("the metrics ask for ", window.before, ", but ",
                      shrinking ? "shrinking waits until nothing higher was asked for during "
                                : "growing waits until nothing lower was asked for during ",
                      ShowAge(shrinking ? window.down_window : window.up_window), by);
}

}  // namespace

std::string ShowTarget(const MetricSpec& metric, const Proposal& proposal) {
  const MetricTarget& target = metric.target;
  const bool per_pod = metric.type != MetricType::kObject && metric.type != MetricType::kExternal;
  if (proposal.formula == Formula::kPodUtilization ||
      (!target.average_value.has_value() && target.average_utilization.has_value())) {
    return absl::StrCat(target.average_utilization.value_or(0), "% of the request");
  }
  const bool total = metric.type == MetricType::kObject ? target.type == TargetType::kValue
                                                        : !target.average_value.has_value();
  const std::optional<TargetAmount>& amount = total ? target.value : target.average_value;
  if (!amount.has_value()) return "none";
  return absl::StrCat(ShowAmount(static_cast<double>(amount->milli), metric),
                      total     ? ""
                      : per_pod ? " for each pod"
                                : " for each replica");
}

std::string ShowRules(const GivenCase& given) {
  const Limiting& limiting = *given.decision.limiting;
  const ScalingRules* rules = RulesOf(given);
  if (rules == nullptr) {
    return absl::StrCat("at most twice as many as now, or 4: ", limiting.rate_limit.value_or(0));
  }
  if (limiting.disabled) {
    return absl::StrCat("selectPolicy Disabled allows ", given.decision.current);
  }
  std::vector<std::string> shown;
  for (const PolicyLimit& policy : limiting.policies) {
    shown.push_back(ShowPolicyLimit(*rules, policy));
  }
  return absl::StrCat(absl::StrJoin(shown, "; "), shown.size() < 2 ? ""
                                                  : rules->select_policy == SelectPolicy::kMin
                                                      ? "; the smallest change counts"
                                                      : "; the largest change counts");
}

std::string WhyThisProposal(const MetricSpec& metric, const Proposal& proposal) {
  if (!proposal.valid) return absl::StrCat("unknown: ", proposal.error);
  const int32_t count = proposal.replicas;
  const double last = LastRatio(proposal);
  switch (proposal.verdict) {
    case Verdict::kWithinTolerance:
      return absl::StrCat(ShowNumber(last), " of the target is within ", Band(proposal.tolerance),
                          ", so ", count, " stay; more only for ", GrowsAbove(metric, proposal));
    case Verdict::kWouldFlip:
      return absl::StrCat("with the gaps filled in the ratio is ", ShowNumber(last),
                          ", on the other side of 1, so ", count, " stay");
    case Verdict::kWouldReverse:
      return absl::StrCat("with the gaps filled in it would be ",
                          proposal.discarded_replicas.value_or(0),
                          ", against the direction of the load, so ", count, " stay");
    case Verdict::kComputed: {
      const double product = last * proposal.multiplier;
      const bool whole = !IsOfTotal(proposal) && product == std::floor(product);
      std::string text = absl::StrCat(Product(metric, proposal), whole ? "" : ", rounded up to ",
                                      whole ? "" : absl::StrCat(count));
      if (count < 0) return absl::StrCat(text, "; less than none is none");
      if (proposal.multiplier == 0)
        return absl::StrCat(text, "; without a ready pod it asks for none");
      return absl::StrCat(text, "; one more only for ", OneMoreOnlyAbove(metric, proposal));
    }
    case Verdict::kInstead:
      return absl::StrCat(proposal.activity_only ? "the count stays, since it tells of activity "
                                                   "alone: "
                                                 : "this count stands while it is unknown: ",
                          proposal.error);
    case Verdict::kFailed: break;
  }
  return proposal.error;
}

std::string WhyThisCount(const GivenCase& given) {
  const Decision& decision = given.decision;
  switch (decision.outcome) {
    case Outcome::kScaleUnknown:
      return absl::StrCat("the scale of the target is not known: ", given.scale.error);
    case Outcome::kSwitchedOff:
      if (decision.min_replicas == 0) {
        return "the target is at zero without the condition ScaledToZero=True in the autoscaler's "
               "status, so it counts as scaled to zero by hand, and nothing wakes it";
      }
      return "the target was scaled to zero by hand, and nothing wakes it while minReplicas is not "
             "0";
    case Outcome::kAboveMax:
    case Outcome::kBelowMin:
      return absl::StrCat(ShowBound(decision.outcome == Outcome::kAboveMax, decision),
                          "the bounds come before the metrics, which were not read");
    case Outcome::kMetricsFailed: {
      if (!decision.combination.has_value())
        return absl::StrCat("nothing was read: ", decision.error);
      const Combination& combination = *decision.combination;
      std::string rest;
      if (combination.winner.has_value()) {
        rest = absl::StrCat(", and the others would shrink to ", combination.replicas);
      }
      return absl::StrCat(combination.invalid, " of ",
                          ShowCount(static_cast<int64_t>(combination.total), "metric"),
                          " could not be read", rest, "; unknown is not zero, so nothing changes");
    }
    case Outcome::kDecided: break;
  }
  if (decision.limiting.has_value() && decision.desired > decision.limiting->after) {
    return absl::StrCat("it slept at zero, and minReplicas is ", decision.min_replicas, " by now");
  }
  if (decision.limiting.has_value() && decision.limiting->by != LimitedBy::kNothing) {
    return WhyLimited(given);
  }
  if (decision.pending.has_value() && decision.pending->held())
    return WhyPending(*decision.pending);
  if (decision.stabilization.has_value() && decision.stabilization->held()) {
    return WhyStabilized(decision);
  }
  if (!decision.winner().has_value()) return "";
  const size_t winner = *decision.winner();
  const MetricSpec& metric = given.autoscaler.metrics[winner];
  return absl::StrCat(ShowMetricName(metric), ": ",
                      WhyThisProposal(metric, decision.proposals[winner]));
}

}  // namespace flyball::scaler
