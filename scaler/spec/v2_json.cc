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

Json Identifier(const HpaSource& source) {
  const std::optional<LabelSelector>& selector = source.selector;
  Json out = {{"name", source.metric_name}};
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

// The block of a metric's spec or status; `name` is the member that holds its amounts.
Json Block(MetricType type, const HpaSource& source, const char* name, const Json& amounts) {
  switch (type) {
    case MetricType::kResource: return {{"name", source.name}, {name, amounts}};
    case MetricType::kContainerResource:
      return {{"name", source.name}, {name, amounts}, {"container", source.container}};
    default: return {{"metric", Identifier(source)}, {name, amounts}};
  }
}

Json Metric(const HpaMetric& metric) {
  Json out = {{"type", metric.type}};
  for (const HpaBlock& block : kHpaBlocks) {
    if (!(metric.*block.member).has_value()) continue;
    const HpaSource& source = *(metric.*block.member);
    const Json target = WithAmounts({{"type", source.target.type}}, source.target);
    out[block.name] = block.type == MetricType::kObject
                          ? Json{{"describedObject", Reference(source.described_object)},
                                 {"target", target},
                                 {"metric", Identifier(source)}}
                          : Block(block.type, source, "target", target);
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
  const HpaSource source{.described_object = {},
                         .name = status.resource,
                         .container = status.container,
                         .metric_name = status.metric_name,
                         .selector = status.metric_selector,
                         .target = {}};
  for (const HpaBlock& block : kHpaBlocks) {
    if (block.type != status.type) continue;
    Json& written = out[block.name] =
        Block(block.type, source, "current", WithAmounts(Json::object(), status));
    if (block.type == MetricType::kObject) {
      written["describedObject"] = Reference(status.described_object);
    }
  }
  return out;
}

}  // namespace flyball::scaler
