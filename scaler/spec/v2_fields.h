// The fields of autoscaling/v2 that other kinds and versions have too, for decode.h.
#pragma once

#include <optional>
#include <string>

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/decode.h"
#include "scaler/spec/v2.h"

namespace flyball::scaler {

inline constexpr auto kReferenceFields = [](auto& field, ObjectReference& to) {
  field("kind", to.kind);
  field("name", to.name);
  field("apiVersion", to.api_version);
};

inline constexpr auto kSelectorFields = [](auto& field, LabelSelector& to) {
  field("matchLabels", to.match_labels);
  field("matchExpressions", to.match_expressions, [](auto& field, LabelSelector::Expression& to) {
    field("key", to.key);
    field("operator", to.op);
    field("values", to.values);
  });
};

inline constexpr auto kRulesFields = [](auto& field, HpaRules& to) {
  field("stabilizationWindowSeconds", to.stabilization_window_seconds);
  field("selectPolicy", to.select_policy);
  field("policies", to.policies, [](auto& field, HpaPolicy& to) {
    field("type", to.type);
    field("value", to.value);
    field("periodSeconds", to.period_seconds);
  });
  field("tolerance", to.tolerance);
};

inline constexpr auto kBehaviorFields = [](auto& field, HpaBehavior& to) {
  field("scaleUp", to.scale_up, kRulesFields);
  field("scaleDown", to.scale_down, kRulesFields);
};

// What the specs of v1 and v2 have in common.
inline constexpr auto kScalingFields = [](auto& field, Hpa& to) {
  field("scaleTargetRef", to.scale_target_ref, kReferenceFields);
  field("minReplicas", to.min_replicas);
  field("maxReplicas", to.max_replicas);
};

// What the statuses of v1 and v2 have in common.
inline constexpr auto kStatusFields = [](auto& field, AutoscalerStatus& to) {
  field("observedGeneration", to.observed_generation);
  field("lastScaleTime", to.last_scale_time);
  field("currentReplicas", to.current_replicas);
  field("desiredReplicas", to.desired_replicas);
};

// An object of either version, or of another kind that has its spec and status.
template <typename Spec, typename Status>
absl::Status DecodeObject(const Node& document, const Spec& spec, const Status& status, Hpa& out) {
  TypeMeta type;  // not kept: the caller has looked at it already
  return Decode(document, KeyMatch::kExact, out, [&](auto& field, Hpa& to) {
    kTypeMetaFields(field, type);
    field("metadata", to.metadata, kObjectMetaFields);
    field("spec", to, spec);
    field("status", to.status, status);
  });
}

inline constexpr auto kConditionFields = [](auto& field, Condition& to) {
  field("type", to.type);
  std::optional<std::string> status;
  field("status", status);
  if (status.has_value()) to.status = ConditionStatusOf(*status);
  field("observedGeneration", to.observed_generation);
  field("lastTransitionTime", to.last_transition_time);
  field("reason", to.reason);
  field("message", to.message);
};

}  // namespace flyball::scaler
