#include "scaler/spec/canonical.h"

#include <nlohmann/json.hpp>

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

Json Reference(const ObjectReference& reference) {
  Json out = {{"kind", reference.kind}, {"name", reference.name}};
  if (!reference.api_version.empty()) out["apiVersion"] = reference.api_version;
  return out;
}

Json Selector(const LabelSelector& selector) {
  Json out = Json::object();
  if (!selector.match_labels.empty()) {
    Json& labels = out["matchLabels"] = Json::object();
    for (const auto& [key, value] : selector.match_labels) labels[key] = value;
  }
  if (!selector.match_expressions.empty()) {
    Json& expressions = out["matchExpressions"] = Json::array();
    for (const LabelSelector::Expression& requirement : selector.match_expressions) {
      Json expression = {{"key", requirement.key}, {"operator", requirement.op}};
      if (!requirement.values.empty()) expression["values"] = requirement.values;
      expressions.push_back(std::move(expression));
    }
  }
  return out;
}

Json Identifier(const HpaSource& source) {
  Json out = {{"name", source.metric_name}};
  if (source.selector.has_value()) out["selector"] = Selector(*source.selector);
  return out;
}

Json Target(const HpaTarget& target) {
  Json out = {{"type", target.type}};
  if (target.value.has_value()) out["value"] = target.value->ToString();
  if (target.average_value.has_value()) out["averageValue"] = target.average_value->ToString();
  if (target.average_utilization.has_value()) {
    out["averageUtilization"] = *target.average_utilization;
  }
  return out;
}

Json Metric(const HpaMetric& metric) {
  Json out = {{"type", metric.type}};
  if (metric.object.has_value()) {
    out["object"] = {{"describedObject", Reference(metric.object->described_object)},
                     {"target", Target(metric.object->target)},
                     {"metric", Identifier(*metric.object)}};
  }
  if (metric.pods.has_value()) {
    out["pods"] = {{"metric", Identifier(*metric.pods)}, {"target", Target(metric.pods->target)}};
  }
  if (metric.resource.has_value()) {
    out["resource"] = {{"name", metric.resource->name},
                       {"target", Target(metric.resource->target)}};
  }
  if (metric.container_resource.has_value()) {
    out["containerResource"] = {{"name", metric.container_resource->name},
                                {"target", Target(metric.container_resource->target)},
                                {"container", metric.container_resource->container}};
  }
  if (metric.external.has_value()) {
    out["external"] = {{"metric", Identifier(*metric.external)},
                       {"target", Target(metric.external->target)}};
  }
  return out;
}

Json Rules(const HpaRules& rules) {
  Json out = Json::object();
  if (rules.stabilization_window_seconds.has_value()) {
    out["stabilizationWindowSeconds"] = *rules.stabilization_window_seconds;
  }
  if (rules.select_policy.has_value()) out["selectPolicy"] = *rules.select_policy;
  if (rules.policies.has_value() && !rules.policies->empty()) {
    Json& policies = out["policies"] = Json::array();
    for (const HpaPolicy& policy : *rules.policies) {
      policies.push_back({{"type", policy.type},
                          {"value", policy.value},
                          {"periodSeconds", policy.period_seconds}});
    }
  }
  if (rules.tolerance.has_value()) out["tolerance"] = rules.tolerance->ToString();
  return out;
}

}  // namespace

std::string CanonicalSpecJson(const Hpa& hpa) {
  Json out = {{"scaleTargetRef", Reference(hpa.scale_target_ref)}};
  if (hpa.min_replicas.has_value()) out["minReplicas"] = *hpa.min_replicas;
  out["maxReplicas"] = hpa.max_replicas;
  if (!hpa.metrics.empty()) {
    Json& metrics = out["metrics"] = Json::array();
    for (const HpaMetric& metric : hpa.metrics) metrics.push_back(Metric(metric));
  }
  if (hpa.behavior.has_value()) {
    Json& behavior = out["behavior"] = Json::object();
    if (hpa.behavior->scale_up.has_value()) behavior["scaleUp"] = Rules(*hpa.behavior->scale_up);
    if (hpa.behavior->scale_down.has_value()) {
      behavior["scaleDown"] = Rules(*hpa.behavior->scale_down);
    }
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flyball::scaler
