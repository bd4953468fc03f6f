#include "doctor/autoscaler.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "doctor/cluster.h"

namespace flyball::doctor {
namespace {

std::string Text(const absl::Status& status) { return std::string(status.message()); }

std::string TargetName(const AutoscalerFacts& facts) {
  return absl::StrCat(facts.spec.scale_target.kind, " ", facts.spec.scale_target.name);
}

// What helps against the reasons of the HPA controller's conditions.
std::string FixOf(const scaler::Condition& condition, const AutoscalerFacts& facts) {
  const absl::string_view reason = condition.reason;
  if (absl::StartsWith(reason, "FailedGet") && absl::EndsWith(reason, "Metric")) {
    return "the lines about its metrics tell where it breaks; all good there: wait 15 s";
  }
  if (reason == "FailedGetScale" || reason == "FailedUpdateScale") {
    return absl::StrCat("see that ", TargetName(facts),
                        " exists and that its controller may get and update its scale");
  }
  if (reason == "AmbiguousSelector") {
    return "leave one autoscaler for these pods, or make the targets' selectors disjoint";
  }
  if (reason == "InvalidSelector" || reason == "SelectorRequired") {
    return "let status.selector of the target's scale subresource select its pods "
           "(subresources.scale.labelSelectorPath of a custom resource)";
  }
  if (reason == "InvalidMetricSourceType") return "correct the type of the metric in spec.metrics";
  return absl::StrCat("kubectl -n ", facts.spec.ns, " describe ",
                      facts.own ? "autoscaler " : "hpa ", facts.spec.name);
}

void CheckCondition(const scaler::Condition& condition, const AutoscalerFacts& facts,
                    Findings& findings) {
  const bool on = condition.status == scaler::ConditionStatus::kTrue;
  const std::string said = absl::StrCat(condition.type, "=", on ? "True" : "False", " (",
                                        condition.reason, "): ", condition.message);
  if (condition.type == "ScalingLimited") {
    if (on && condition.reason == "TooManyReplicas") {
      findings.Doubt("condition", said,
                     "it wants more than spec.maxReplicas: raise it if the target is overloaded");
    }
    return;
  }
  if (on) {
    findings.Good("condition", said);
  } else if (condition.reason == "ScalingDisabled") {
    findings.Doubt("condition", said,
                   absl::StrCat("scale ", TargetName(facts), " to 1 or more to switch it on"));
  } else {
    findings.Bad("condition", said, FixOf(condition, facts));
  }
}

}  // namespace

std::string AutoscalerTitle(bool own, const scaler::Autoscaler& spec) {
  return absl::StrCat(own ? "autoscaler " : "hpa ", spec.ns, "/", spec.name);
}

Findings CheckRivals(const AutoscalerFacts& facts) {
  Findings findings;
  if (facts.rivals.empty()) return findings;
  findings.Bad("rivals",
               absl::StrCat(TargetName(facts), " is scaled by ", absl::StrJoin(facts.rivals, ", "),
                            " too: they undo each other"),
               "leave one of them; an HPA can hold several metrics in spec.metrics");
  return findings;
}

Findings CheckTarget(const AutoscalerFacts& facts) {
  Findings findings;
  const std::string name = TargetName(facts);
  if (!facts.target_kind.ok()) {
    findings.Bad("target",
                 absl::StrCat("the cluster knows no ", facts.spec.scale_target.kind, " of ",
                              facts.spec.scale_target.api_version),
                 "correct spec.scaleTargetRef.apiVersion and kind, or install that kind");
    return findings;
  }
  if (facts.scale.ok()) {
    findings.Good("target", absl::StrCat(name, " has ", facts.scale->status_replicas, " of ",
                                         facts.scale->spec_replicas, " replicas"));
  } else if (absl::IsPermissionDenied(facts.scale.status())) {
    findings.Doubt("target", absl::StrCat(name, ": ", Text(facts.scale.status())),
                   MayLook("get", "its scale subresource"));
    return findings;
  } else if (absl::IsNotFound(facts.scale.status()) && facts.target.ok()) {
    findings.Bad("target", absl::StrCat(name, " has no scale subresource"),
                 "give spec.versions[].subresources.scale to its CustomResourceDefinition");
    return findings;
  } else {
    findings.Bad("target", absl::StrCat(name, ": ", Text(facts.scale.status())),
                 "correct spec.scaleTargetRef, or create the target");
    return findings;
  }
  if (facts.scale->selector.empty()) {
    findings.Bad("target-selector", absl::StrCat("the scale of ", name, " has no selector"),
                 "let status.selector of its scale subresource select its pods "
                 "(subresources.scale.labelSelectorPath of a custom resource)");
  }
  return findings;
}

Findings CheckPods(const AutoscalerFacts& facts) {
  Findings findings;
  if (!facts.scale.ok() || facts.scale->selector.empty()) return findings;
  if (!facts.pods_read.ok()) {
    findings.Doubt("pods",
                   absl::StrCat("pods of ", facts.measured.selector, ": ", Text(facts.pods_read)),
                   MayLook("list", "pods"));
    return findings;
  }
  size_t ready = 0;
  for (const scaler::Pod& pod : facts.measured.pods) {
    ready += pod.ready.has_value() && pod.ready->status == scaler::ConditionStatus::kTrue;
  }
  const size_t all = facts.measured.pods.size();
  const std::string look =
      absl::StrCat("kubectl -n ", facts.spec.ns, " get pods -l '", facts.measured.selector, "'");
  if (facts.scale->spec_replicas == 0) {
    findings.Doubt("pods", "the target is scaled to zero: the HPA controller leaves it there",
                   absl::StrCat("scale ", TargetName(facts), " to 1 or more"));
  } else if (all == 0) {
    findings.Bad("pods", absl::StrCat("no pod has the labels ", facts.measured.selector),
                 absl::StrCat("see why they are not made (events of ", TargetName(facts),
                              "), or correct spec.selector: ", look));
  } else if (ready < all) {
    findings.Doubt("pods",
                   absl::StrCat(ready, " of ", all,
                                " pods are ready; the others count "
                                "as 0 when growing"),
                   look);
  } else {
    findings.Good("pods", absl::StrCat("all ", all, " pods are ready"));
  }
  return findings;
}

Findings CheckConditions(const AutoscalerFacts& facts) {
  Findings findings;
  for (const scaler::Condition& condition : facts.spec.status.conditions) {
    CheckCondition(condition, facts, findings);
  }
  if (facts.spec.status.conditions.empty()) {
    findings.Doubt("condition", "no controller has looked at it yet",
                   facts.own ? "see that flyball runs with --scaler (chart: scaler.enabled) in "
                               "mode advise or act"
                             : "see that the HPA controller runs: kube-controller-manager, or "
                               "flyball with --scaler-mode=act --scaler-hpa");
  }
  return findings;
}

Findings CheckAutoscaler(const AutoscalerFacts& facts, absl::Time now) {
  Findings findings;
  if (!facts.spec_error.empty()) {
    findings.Bad("spec", facts.spec_error, "correct that field of the autoscaler");
  }
  findings.Append(CheckRivals(facts));
  findings.Append(CheckTarget(facts));
  findings.Append(CheckPods(facts));
  for (const MetricFacts& metric : facts.metrics) {
    findings.Append(CheckMetric(metric, facts.measured, now));
  }
  if (facts.triggers > 0) {
    findings.Good("triggers",
                  absl::StrCat(facts.triggers,
                               " triggers are read by the scaler: `flyball "
                               "explain autoscaler/",
                               facts.spec.name, " -n ", facts.spec.ns, "` tells what they say"));
  }
  findings.Append(CheckConditions(facts));
  return findings;
}

}  // namespace flyball::doctor
