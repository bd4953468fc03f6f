#include "doctor/gates.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "scaler/math/math_config.h"
#include "scaler/spec/shown_gates.h"

namespace flyball::doctor {
namespace {

constexpr char kTold[] = "; if the controller has another setting, pass it with --feature-gates";

}  // namespace

scaler::DialectChoice WithShownGates(const scaler::DialectChoice& choice,
                                     const scaler::ServerVersion& server,
                                     absl::Span<const scaler::ManagedPtr> listed) {
  const bool shown = std::any_of(listed.begin(), listed.end(), [](const scaler::ManagedPtr& one) {
    return one->key.kind == scaler::AutoscalerKind::kHpa &&
           scaler::ShowsScaleToZero(one->autoscaler.status);
  });
  return shown ? scaler::WithScaleToZeroShown(choice, server) : choice;
}

Findings CheckGates(const AutoscalerFacts& facts) {
  if (facts.key.kind == scaler::AutoscalerKind::kOwn) return {};
  Findings findings;
  const scaler::MathConfig config = scaler::MathConfigOf({}, facts.dialect);
  const std::string whose =
      absl::StrCat("the controller of Kubernetes ", scaler::DialectText(facts.dialect));
  const std::optional<scaler::Behavior>& behavior = facts.autoscaler.behavior;
  if (!config.configurable_tolerance && behavior.has_value() &&
      (behavior->scale_up.tolerance.has_value() || behavior->scale_down.tolerance.has_value())) {
    findings.push_back(Doubt(
        "gates",
        absl::StrCat("the tolerance under spec.behavior does not count: ", whose,
                     " has HPAConfigurableTolerance off"),
        absl::StrCat("turn the gate on in kube-apiserver and kube-controller-manager", kTold)));
  }
  const bool asleep = facts.scale.ok() && facts.scale->spec_replicas == 0;  // CheckAtZero tells
  if (config.wakes_by_condition && !config.scaled_to_zero_condition && !asleep &&
      facts.autoscaler.min_or_default() == 0) {
    findings.push_back(
        Doubt("gates",
              absl::StrCat("minReplicas is 0, and ", whose,
                           " has HPAScaleToZero off: once at zero the target is never woken"),
              absl::StrCat("set minReplicas to 1 or more, or turn the gate on", kTold)));
  }
  return findings;
}

}  // namespace flyball::doctor
