#include "scaler/spec/own/request_defaults.h"

#include "absl/strings/str_cat.h"
#include "scaler/spec/knative/metadata.h"

namespace flyball::scaler {
namespace {

// More pods than any target has, so that a policy with this value limits nothing.
constexpr int32_t kAnyCount = 1'000'000;

ScalingRules AtOnce() {
  ScalingRules rules;
  rules.stabilization_window_seconds = 0;
  rules.policies = {{.type = PolicyType::kPods, .value = kAnyCount, .period_seconds = 1}};
  return rules;
}

}  // namespace

void ApplyRequestDefaults(bool has_cooldown, Autoscaler& autoscaler, OwnSpec& own,
                          FieldErrors& errors) {
  bool found = false;
  for (size_t i = 0; i < own.triggers.size(); ++i) {
    TriggerSpec& trigger = own.triggers[i];
    if (trigger.type != kHttpTrigger) continue;
    if (found) {
      errors.Invalid(absl::StrCat("spec.triggers[", i, "].type"),
                     "there is an http trigger already, and an autoscaler has one at most");
    }
    found = true;
    knative::AddAnnotations(autoscaler.annotations, trigger.metadata);
  }
  if (!found || own.triggers.size() > 1 || !autoscaler.metrics.empty()) return;
  if (!autoscaler.behavior.has_value()) autoscaler.behavior = Behavior{AtOnce(), AtOnce()};
  if (!has_cooldown) own.cooldown = absl::ZeroDuration();
}

}  // namespace flyball::scaler
