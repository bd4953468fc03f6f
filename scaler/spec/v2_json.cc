#include "scaler/spec/v2_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

Json Reference(const ObjectReference& reference) {
  Json out = {{"kind", reference.kind}, {"name", reference.name}};
  if (!reference.api_version.empty()) out["apiVersion"] = reference.api_version;
  return out;
}

// Which metric: its name and its selector.
Json Identifier(const std::string& name, const std::optional<LabelSelector>& selector) {
  Json out = {{"name", name}};
  if (!selector.has_value()) return out;
  Json& selected = out["selector"] = Json::object();
  if (!selector->match_labels.empty()) selected["matchLabels"] = selector->match_labels;
  for (const LabelSelector::Expression& requirement : selector->match_expressions) {
    Json expression = {{"key", requirement.key}, {"operator", requirement.op}};
    if (!requirement.values.empty()) expression["values"] = requirement.values;
    selected["matchExpressions"].push_back(std::move(expression));
  }
  return out;
}

Json Identifier(const HpaSource& source) { return Identifier(source.metric_name, source.selector); }

// Adds the amounts of a target or of a status, which have the same names in both.
template <typename Amounts>
Json WithAmounts(Json out, const Amounts& amounts) {
  if (amounts.value.has_value()) out["value"] = amounts.value->ToString();
  if (amounts.average_value.has_value()) out["averageValue"] = amounts.average_value->ToString();
  if (amounts.average_utilization.has_value()) {
    out["averageUtilization"] = *amounts.average_utilization;
  }
  return out;
}

Json Target(const HpaTarget& target) { return WithAmounts({{"type", target.type}}, target); }

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

nlohmann::ordered_json MetricStatusJson(const MetricStatus& status) {
  Json out = {{"type", status.type_text}};
  const Json current = WithAmounts(Json::object(), status);
  const Json metric = Identifier(status.metric_name, status.metric_selector);
  switch (status.type) {
    case MetricType::kResource:
      out["resource"] = {{"name", status.resource}, {"current", current}};
      break;
    case MetricType::kContainerResource:
      out["containerResource"] = {
          {"name", status.resource}, {"current", current}, {"container", status.container}};
      break;
    case MetricType::kPods:
      out["pods"] = {{"metric", metric}, {"current", current}};
      break;
    case MetricType::kObject:
      out["object"] = {{"metric", metric},
                       {"current", current},
                       {"describedObject", Reference(status.described_object)}};
      break;
    case MetricType::kExternal:
      out["external"] = {{"metric", metric}, {"current", current}};
      break;
    case MetricType::kUnknown:
      break;
  }
  return out;
}

}  // namespace flyball::scaler
