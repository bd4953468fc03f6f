#include "doctor/autoscaler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "doctor/cluster.h"
#include "doctor/gates.h"
#include "scaler/math/recording.h"

namespace flyball::doctor {
namespace {

std::string TargetName(const AutoscalerFacts& facts) {
  return absl::StrCat(facts.autoscaler.scale_target.kind, " ", facts.autoscaler.scale_target.name);
}

// The remedies for the reasons in the HPA controller's conditions.
std::string FixOf(const scaler::Condition& condition, const AutoscalerFacts& facts) {
  const absl::string_view reason = condition.reason;
  if (absl::StartsWith(reason, "FailedGet") && absl::EndsWith(reason, "Metric")) {
    return "see the lines about its metrics; if they are all good, wait 15 s";
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
  return absl::StrCat("kubectl -n ", facts.key.ns, " describe ", KindWord(facts.key),
                      facts.key.name);
}

std::optional<Finding> CheckCondition(const scaler::Condition& condition,
                                      const AutoscalerFacts& facts) {
  const bool on = condition.status == scaler::ConditionStatus::kTrue;
  const std::string said = absl::StrCat(condition.type, "=", on ? "True" : "False", " (",
                                        condition.reason, "): ", condition.message);
  if (condition.type == "ScalingLimited") {
    if (!on || condition.reason != "TooManyReplicas") return std::nullopt;
    return Doubt("condition", said,
                 "it wants more than spec.maxReplicas: raise it if the target is overloaded");
  }
  // That no trigger is active is no fault.
  const bool idle = condition.reason == "ScalerNotActive" || condition.reason == "ScalerCooldown";
  if (on || idle) return Good("condition", said);
  if (condition.type == scaler::kScaledToZero) return std::nullopt;  // it is about the past
  if (condition.reason == "ScalingDisabled") {
    return Doubt("condition", said,
                 absl::StrCat("scale ", TargetName(facts), " to 1 or more to switch it on"));
  }
  return Bad("condition", said, FixOf(condition, facts));
}

Findings CheckRivals(const AutoscalerFacts& facts) {
  if (facts.rivals.empty()) return {};
  return {Bad("rivals",
              absl::StrCat(TargetName(facts), " is scaled by ", absl::StrJoin(facts.rivals, ", "),
                           " too: they undo each other"),
              "leave one of them; an HPA can hold several metrics in spec.metrics")};
}

size_t ReadyOf(const std::vector<scaler::Pod>& pods) {
  return static_cast<size_t>(std::count_if(pods.begin(), pods.end(), [](const scaler::Pod& pod) {
    return pod.ready.has_value() && pod.ready->status == scaler::ConditionStatus::kTrue;
  }));
}

// A count that is reached is no good finding while none of its pods is ready.
bool NoneReady(const AutoscalerFacts& facts) {
  return facts.pods_read.ok() && facts.scale->spec_replicas > 0 && !facts.measured.pods.empty() &&
         ReadyOf(facts.measured.pods) == 0;
}

std::string CountOfTarget(const AutoscalerFacts& facts) {
  return absl::StrCat(TargetName(facts), " has ", facts.scale->status_replicas, " of ",
                      facts.scale->spec_replicas, " replicas");
}

Findings CheckTarget(const AutoscalerFacts& facts) {
  const std::string name = TargetName(facts);
  if (!facts.target_kind.ok()) {
    return {Bad("target",
                absl::StrCat("the cluster knows no ", facts.autoscaler.scale_target.kind, " of ",
                             facts.autoscaler.scale_target.api_version),
                "correct spec.scaleTargetRef.apiVersion and kind, or install that kind")};
  }
  if (!facts.scale.ok()) {
    const std::string text = absl::StrCat(name, ": ", facts.scale.status().message());
    if (absl::IsPermissionDenied(facts.scale.status())) {
      return {Doubt("target", text, MayLook("get", "its scale subresource"))};
    }
    if (absl::IsNotFound(facts.scale.status()) && facts.target.ok()) {
      return {Bad("target", absl::StrCat(name, " has no scale subresource"),
                  "give spec.versions[].subresources.scale to its CustomResourceDefinition")};
    }
    return {Bad("target", text, "correct spec.scaleTargetRef, or create the target")};
  }
  Findings findings;
  if (!NoneReady(facts)) findings.push_back(Good("target", CountOfTarget(facts)));
  if (facts.scale->selector.empty()) {
    findings.push_back(Bad("target-selector",
                           absl::StrCat("the scale of ", name, " has no selector"),
                           "let status.selector of its scale subresource select its pods "
                           "(subresources.scale.labelSelectorPath of a custom resource)"));
  }
  return findings;
}

Findings CheckPods(const AutoscalerFacts& facts) {
  if (!facts.scale.ok() || facts.scale->selector.empty()) return {};
  const std::string& selector = facts.measured.selector;
  if (!facts.pods_read.ok()) {
    return {Doubt("pods", absl::StrCat("pods of ", selector, ": ", facts.pods_read.message()),
                  MayLook("list", "pods"))};
  }
  if (facts.scale->spec_replicas == 0) return {CheckAtZero(facts)};
  const std::string look =
      absl::StrCat("kubectl -n ", facts.key.ns, " get pods -l '", selector, "'");
  const size_t all = facts.measured.pods.size();
  if (all == 0) {
    return {Bad("pods", absl::StrCat("no pod has the labels ", selector),
                absl::StrCat("see why they are not made (events of ", TargetName(facts),
                             "), or correct spec.selector: ", look))};
  }
  if (NoneReady(facts)) {
    return {Bad("pods", absl::StrCat(CountOfTarget(facts), ", and none of its pods is ready"),
                absl::StrCat("see why they do not become ready: ", look))};
  }
  const size_t ready = ReadyOf(facts.measured.pods);
  if (ready == all) return {Good("pods", absl::StrCat("all ", all, " pods are ready"))};
  return {
      Doubt("pods",
            absl::StrCat(ready, " of ", all, " pods are ready; the others count as 0 when growing"),
            look)};
}

Findings CheckConditions(const AutoscalerFacts& facts) {
  Findings findings;
  for (const scaler::Condition& condition : facts.autoscaler.status.conditions) {
    if (auto finding = CheckCondition(condition, facts)) findings.push_back(*std::move(finding));
  }
  if (facts.autoscaler.status.conditions.empty()) {
    findings.push_back(Doubt("condition", "no controller has looked at it yet",
                             facts.key.kind == scaler::AutoscalerKind::kOwn
                                 ? "see that flyball runs with --scaler (chart: scaler.enabled) in "
                                   "mode advise or act"
                                 : "see that the HPA controller runs: kube-controller-manager, or "
                                   "flyball with --scaler-mode=act --scaler-hpa"));
  }
  return findings;
}

}  // namespace

const char* KindWord(const scaler::AutoscalerKey& autoscaler) {
  return autoscaler.kind == scaler::AutoscalerKind::kOwn ? "autoscaler " : "hpa ";
}

std::string AutoscalerTitle(const scaler::AutoscalerKey& autoscaler) {
  return absl::StrCat(KindWord(autoscaler), autoscaler.ToString());
}

Findings CheckAutoscaler(const AutoscalerFacts& facts, absl::Time now) {
  Findings findings;
  if (!facts.refused.empty()) {
    findings.push_back(Bad("spec", facts.refused, "correct that field of the autoscaler"));
  }
  for (const std::string& ignored : facts.ignored) {
    findings.push_back(Doubt("annotations", absl::StrCat("the scaler says that it ", ignored),
                             "correct that annotation"));
  }
  Append(CheckRivals(facts), findings);
  Append(CheckTarget(facts), findings);
  Append(CheckPods(facts), findings);
  Append(CheckGates(facts), findings);
  Append(CheckTargetObject(facts.own_object), findings);
  for (const MetricFacts& metric : facts.metrics) {
    Append(CheckMetric(metric, facts.measured, now), findings);
  }
  if (const size_t triggers = facts.own.triggers.size(); triggers > 0) {
    findings.push_back(Good(
        "triggers", absl::StrCat(triggers, triggers == 1 ? " trigger is" : " triggers are",
                                 " read by the scaler: `flyball explain autoscaler/",
                                 facts.key.name, " -n ", facts.key.ns, "` tells what they say")));
  }
  Append(CheckConditions(facts), findings);
  return findings;
}

}  // namespace flyball::doctor
