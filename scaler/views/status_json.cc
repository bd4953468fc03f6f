#include "scaler/views/status_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/hash/hash.h"
#include "kube/client/api_client.h"
#include "kube/objects/json_members.h"
#include "kube/objects/quantity.h"
#include "scaler/math/recording.h"
#include "scaler/spec/own_spec.h"
#include "scaler/spec/v2_json.h"
#include "scaler/views/limiting_reason.h"

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

Json TimeJson(std::optional<absl::Time> time) {
  if (!time.has_value()) return nullptr;
  return kube::TimeText(*time);
}

Json ConditionJson(const Condition& condition) {
  Json out = {{"type", condition.type}, {"status", ConditionStatusName(condition.status)}};
  if (condition.last_transition_time.has_value()) {
    out["lastTransitionTime"] = TimeJson(condition.last_transition_time);
  }
  if (condition.observed_generation.has_value()) {
    out["observedGeneration"] = *condition.observed_generation;
  }
  if (!condition.reason.empty()) out["reason"] = condition.reason;
  if (!condition.message.empty()) out["message"] = condition.message;
  return out;
}

Json TriggerJson(const OwnStatus::TriggerStatus& trigger) {
  Json out = {{"type", trigger.type}};
  if (!trigger.name.empty()) out["name"] = trigger.name;
  out["active"] = trigger.active;
  if (trigger.value_milli.has_value()) {
    out["value"] = kube::Quantity::FromMilli(*trigger.value_milli).ToString();
  }
  if (!trigger.error.empty()) out["error"] = trigger.error;
  return out;
}

Json DecisionJson(const OwnStatus::DecisionStatus& decision) {
  Json out = {{"desiredReplicas", decision.desired}};
  if (decision.unbounded.has_value()) out["unboundedReplicas"] = *decision.unbounded;
  out["reason"] = decision.reason;
  if (!decision.metric.empty()) out["metric"] = decision.metric;
  return out;
}

template <typename T>
Json ListJson(const std::vector<T>& list, Json (*item_json)(const T&)) {
  if (list.empty()) return nullptr;
  Json out = Json::array();
  for (const T& item : list) out.push_back(item_json(item));
  return out;
}

}  // namespace

std::string StatusPatch(absl::string_view resource_version, const AutoscalerStatus& status,
                        const OwnStatus* own) {
  Json out;
  const std::optional<int64_t>& generation = status.observed_generation;
  out["observedGeneration"] = generation.has_value() ? Json(*generation) : Json(nullptr);
  out["lastScaleTime"] = TimeJson(status.last_scale_time);
  out["currentReplicas"] = status.current_replicas;
  out["desiredReplicas"] = status.desired_replicas;
  out["currentMetrics"] = ListJson(status.current_metrics, MetricStatusJson);
  out["conditions"] = ListJson(status.conditions, ConditionJson);
  if (own != nullptr) {
    out["lastActiveTime"] = TimeJson(own->last_active);
    out["triggers"] = ListJson(own->triggers, TriggerJson);
    out["lastDecision"] =
        own->last_decision.has_value() ? DecisionJson(*own->last_decision) : Json(nullptr);
    out["mode"] = own->mode;
    out["targets"] = own->targets;
  }
  const Json patch = {{"metadata", {{"resourceVersion", std::string(resource_version)}}},
                      {"status", std::move(out)}};
  return patch.dump(-1, ' ', false, Json::error_handler_t::replace);
}

OwnStatus::DecisionStatus DecisionStatusOf(const Decision& decision) {
  OwnStatus::DecisionStatus out;
  out.desired = decision.count();
  out.reason = std::string(LimitingReason(decision));
  if (decision.outcome != Outcome::kDecided) return out;
  out.unbounded = decision.recommendation;
  if (const auto winner = decision.winner()) out.metric = decision.proposals[*winner].name;
  return out;
}

std::string AutoscalerPath(const AutoscalerKey& key, absl::string_view subresource) {
  if (key.kind == AutoscalerKind::kOwn) {
    return kube::ObjectPath(kOwnGroup, kOwnVersion, key.ns, kOwnPlural, key.name, subresource);
  }
  return kube::ObjectPath("autoscaling", "v2", key.ns, "horizontalpodautoscalers", key.name,
                          subresource);
}

std::string ResourceVersionOf(absl::string_view json) {
  const Json object = Json::parse(json.begin(), json.end(), nullptr, false);
  return kube::TextOf(kube::MemberOf(object, "metadata"), "resourceVersion");
}

uint64_t CaredDigest(const AutoscalerStatus& status, std::optional<int64_t> observed_generation) {
  size_t hash = absl::HashOf(observed_generation, status.current_replicas, status.desired_replicas,
                             absl::ToUnixSeconds(status.last_scale_time.value_or(absl::Time())));
  for (const Condition& condition : status.conditions) {
    hash = absl::HashOf(hash, condition.type, condition.status, condition.reason);
  }
  return std::max<uint64_t>(hash, 1);
}

uint64_t FailureDigest(const AutoscalerStatus& status) {
  size_t hash = 0;
  for (const Condition& condition : status.conditions) {
    if (condition.status != ConditionStatus::kFalse) continue;
    if (condition.type != kAbleToScale && condition.type != kScalingActive) continue;
    hash = std::max<uint64_t>(absl::HashOf(hash, condition.type, condition.reason), 1);
  }
  return hash;
}

}  // namespace flyball::scaler
