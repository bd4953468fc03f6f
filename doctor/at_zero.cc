#include "doctor/autoscaler.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/math/math_config.h"
#include "scaler/math/recording.h"

namespace flyball::doctor {
namespace {

// The command that writes the condition that a newer controller would have written.
std::string MarkAsAsleep(const AutoscalerFacts& facts) {
  const bool listed = !facts.autoscaler.status.conditions.empty();  // else no list may be there
  return absl::StrCat(
      "kubectl -n ", facts.key.ns, " patch hpa ", facts.key.name,
      " --subresource=status --type=json -p='[{\"op\":\"add\",\"path\":\"/status/conditions",
      listed ? "/-" : "", "\",\"value\":", listed ? "" : "[",
      "{\"type\":\"ScaledToZero\",\"status\":\"True\",\"reason\":\"ScaledToZero\","
      "\"message\":\"the HPA controller scaled the workload to zero\"}",
      listed ? "" : "]", "}]'");
}

}  // namespace

Finding CheckAtZero(const AutoscalerFacts& facts) {
  const scaler::Autoscaler& autoscaler = facts.autoscaler;
  const scaler::MathConfig config = scaler::MathConfigOf({}, facts.dialect);
  const std::string up = absl::StrCat("scale ", autoscaler.scale_target.kind, " ",
                                      autoscaler.scale_target.name, " to 1 or more");
  if (!facts.own.triggers.empty()) {
    return Good("pods", "the target is scaled to zero; its triggers wake it");
  }
  const bool own = facts.key.kind == scaler::AutoscalerKind::kOwn;
  const bool may_sleep = autoscaler.min_or_default() == 0 && scaler::SeesLoadAtZero(autoscaler);
  if (own || (!may_sleep && !scaler::ConditionIsTrue(autoscaler.status, scaler::kScaledToZero))) {
    return Doubt("pods", "the target is scaled to zero: the HPA controller leaves it there", up);
  }
  if (!config.wakes_by_condition) {
    return Good("pods", "the target is scaled to zero, as minReplicas allows; its metrics wake it");
  }
  if (!config.scaled_to_zero_condition) {
    return Doubt("pods",
                 absl::StrCat("the target is scaled to zero, which the controller of Kubernetes ",
                              scaler::DialectText(facts.dialect),
                              " never leaves while HPAScaleToZero is off"),
                 up);
  }
  if (scaler::ConditionIsTrue(autoscaler.status, scaler::kScaledToZero)) {
    return Good("pods", "the target sleeps at zero replicas; its metrics wake it");
  }
  const bool by_metrics = autoscaler.status.desired_replicas == 0 &&
                          scaler::ConditionIsTrue(autoscaler.status, scaler::kScalingActive);
  const bool told =
      scaler::FindCondition(scaler::kScaledToZero, autoscaler.status.conditions) != nullptr;
  return Doubt(
      "sleep",
      absl::StrCat("the target is at zero without the condition ScaledToZero=True",
                   by_metrics ? ", put there by a controller older than 1.36" : "",
                   ": the controller of Kubernetes ", scaler::DialectText(facts.dialect),
                   " takes it for switched off, and never wakes it"),
      told ? up : absl::StrCat(up, "; or, if its metrics should wake it: ", MarkAsAsleep(facts)));
}

}  // namespace flyball::doctor
