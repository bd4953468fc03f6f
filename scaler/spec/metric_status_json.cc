#include "scaler/spec/metric_status_json.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace flyball::scaler {
namespace {

using Json = nlohmann::ordered_json;

Json SelectorJson(const LabelSelector& selector) {
  Json out = Json::object();
  if (!selector.match_labels.empty()) out["matchLabels"] = selector.match_labels;
  for (const LabelSelector::Expression& expression : selector.match_expressions) {
    Json item = {{"key", expression.key}, {"operator", expression.op}};
    if (!expression.values.empty()) item["values"] = expression.values;
    out["matchExpressions"].push_back(std::move(item));
  }
  return out;
}

Json CurrentJson(const MetricStatus& status) {
  Json out = Json::object();
  if (status.value.has_value()) out["value"] = status.value->ToString();
  if (status.average_value.has_value()) out["averageValue"] = status.average_value->ToString();
  if (status.average_utilization.has_value()) {
    out["averageUtilization"] = *status.average_utilization;
  }
  return out;
}

Json MetricIdJson(const MetricStatus& status) {
  Json out = {{"name", status.metric_name}};
  if (status.metric_selector.has_value()) out["selector"] = SelectorJson(*status.metric_selector);
  return out;
}

Json ObjectJson(const ObjectReference& object) {
  Json out = {{"kind", object.kind}, {"name", object.name}};
  if (!object.api_version.empty()) out["apiVersion"] = object.api_version;
  return out;
}

}  // namespace

nlohmann::ordered_json MetricStatusJson(const MetricStatus& status) {
  Json out = {{"type", status.type_text}};
  const Json current = CurrentJson(status);
  switch (status.type) {
    case MetricType::kResource:
      out["resource"] = {{"name", status.resource}, {"current", current}};
      break;
    case MetricType::kContainerResource:
      out["containerResource"] = {
          {"name", status.resource}, {"current", current}, {"container", status.container}};
      break;
    case MetricType::kPods:
      out["pods"] = {{"metric", MetricIdJson(status)}, {"current", current}};
      break;
    case MetricType::kObject:
      out["object"] = {{"metric", MetricIdJson(status)},
                       {"current", current},
                       {"describedObject", ObjectJson(status.described_object)}};
      break;
    case MetricType::kExternal:
      out["external"] = {{"metric", MetricIdJson(status)}, {"current", current}};
      break;
    case MetricType::kUnknown:
      break;
  }
  return out;
}

}  // namespace flyball::scaler
