// autoscaling/v2: shapes, reading and defaults.
#include "scaler/spec/hpa.h"
#include "scaler/spec/hpa_read.h"

namespace flyball::scaler {
namespace {

using Type = Shape::Type;

const Shape kIdentifierShape{
    .fields = {{"name", &kStringShape}, {"selector", &kSelectorShape, true}}};
const Shape kTargetShape{.fields = {{"type", &kStringShape},
                                    {"value", &kQuantityShape, true},
                                    {"averageValue", &kQuantityShape, true},
                                    {"averageUtilization", &kInt32Shape, true}}};
const Shape kObjectSourceShape{.fields = {{"describedObject", &kReferenceShape},
                                          {"target", &kTargetShape},
                                          {"metric", &kIdentifierShape}}};
const Shape kSeriesSourceShape{
    .fields = {{"metric", &kIdentifierShape}, {"target", &kTargetShape}}};
const Shape kResourceSourceShape{.fields = {{"name", &kStringShape}, {"target", &kTargetShape}}};
const Shape kContainerSourceShape{
    .fields = {{"name", &kStringShape}, {"target", &kTargetShape}, {"container", &kStringShape}}};
const Shape kMetricShape{.fields = {{"type", &kStringShape},
                                    {"object", &kObjectSourceShape, true},
                                    {"pods", &kSeriesSourceShape, true},
                                    {"resource", &kResourceSourceShape, true},
                                    {"containerResource", &kContainerSourceShape, true},
                                    {"external", &kSeriesSourceShape, true}}};
const Shape kMetricsShape{.type = Type::kList, .item = &kMetricShape};

const Shape kPolicyShape{
    .fields = {{"type", &kStringShape}, {"value", &kInt32Shape}, {"periodSeconds", &kInt32Shape}}};
const Shape kPoliciesShape{.type = Type::kList, .item = &kPolicyShape};
const Shape kRulesShape{.fields = {{"stabilizationWindowSeconds", &kInt32Shape, true},
                                   {"selectPolicy", &kStringShape, true},
                                   {"policies", &kPoliciesShape},
                                   {"tolerance", &kQuantityShape, true}}};
const Shape kBehaviorShape{
    .fields = {{"scaleUp", &kRulesShape, true}, {"scaleDown", &kRulesShape, true}}};

const Shape kSpecShape{.fields = {{"scaleTargetRef", &kReferenceShape},
                                  {"minReplicas", &kInt32Shape, true},
                                  {"maxReplicas", &kInt32Shape},
                                  {"metrics", &kMetricsShape},
                                  {"behavior", &kBehaviorShape, true}}};

const Shape kCurrentShape{.fields = {{"value", &kQuantityShape, true},
                                     {"averageValue", &kQuantityShape, true},
                                     {"averageUtilization", &kInt32Shape, true}}};
const Shape kObjectStatusShape{.fields = {{"metric", &kIdentifierShape},
                                          {"current", &kCurrentShape},
                                          {"describedObject", &kReferenceShape}}};
const Shape kSeriesStatusShape{
    .fields = {{"metric", &kIdentifierShape}, {"current", &kCurrentShape}}};
const Shape kResourceStatusShape{.fields = {{"name", &kStringShape}, {"current", &kCurrentShape}}};
const Shape kContainerStatusShape{
    .fields = {{"name", &kStringShape}, {"current", &kCurrentShape}, {"container", &kStringShape}}};
const Shape kMetricStatusShape{.fields = {{"type", &kStringShape},
                                          {"object", &kObjectStatusShape, true},
                                          {"pods", &kSeriesStatusShape, true},
                                          {"resource", &kResourceStatusShape, true},
                                          {"containerResource", &kContainerStatusShape, true},
                                          {"external", &kSeriesStatusShape, true}}};
const Shape kMetricStatusesShape{.type = Type::kList, .item = &kMetricStatusShape};
const Shape kStatusShape{.fields = {{"observedGeneration", &kInt64Shape, true},
                                    {"lastScaleTime", &kTimeShape, true},
                                    {"currentReplicas", &kInt32Shape},
                                    {"desiredReplicas", &kInt32Shape},
                                    {"currentMetrics", &kMetricStatusesShape},
                                    {"conditions", &kConditionListShape}}};

const Shape kHpaShape{.fields = {{"kind", &kStringShape},
                                 {"apiVersion", &kStringShape},
                                 {"metadata", &kObjectMetaShape},
                                 {"spec", &kSpecShape},
                                 {"status", &kStatusShape}}};

void ReadIdentifier(const Node& source, std::string& name, std::optional<LabelSelector>& selector) {
  if (const Node* metric = source.Find("metric")) {
    name = ReadString(*metric, "name");
    selector = ReadSelector(*metric, "selector");
  }
}

std::optional<HpaSource> ReadSource(const Node& metric, absl::string_view name) {
  const Node* source = metric.Find(name);
  if (source == nullptr) return std::nullopt;
  HpaSource out;
  out.described_object = ReadReference(*source, "describedObject");
  out.name = ReadString(*source, "name");
  out.container = ReadString(*source, "container");
  ReadIdentifier(*source, out.metric_name, out.selector);
  if (const Node* target = source->Find("target")) {
    out.target = {.type = ReadString(*target, "type"),
                  .value = ReadOptionalQuantity(*target, "value"),
                  .average_value = ReadOptionalQuantity(*target, "averageValue"),
                  .average_utilization = ReadOptionalInt32(*target, "averageUtilization")};
  }
  return out;
}

// A status has one block, the one of its type; of several, upstream shows the first.
MetricStatus ReadMetricStatus(const Node& status) {
  MetricStatus out;
  out.type_text = ReadString(status, "type");
  out.type = ParseMetricType(out.type_text);
  for (const char* name : {"object", "pods", "resource", "containerResource", "external"}) {
    const Node* block = status.Find(name);
    if (block == nullptr) continue;
    out.resource = ReadString(*block, "name");
    out.container = ReadString(*block, "container");
    ReadIdentifier(*block, out.metric_name, out.metric_selector);
    out.described_object = ReadReference(*block, "describedObject");
    if (const Node* current = block->Find("current")) {
      out.value = ReadOptionalQuantity(*current, "value");
      out.average_value = ReadOptionalQuantity(*current, "averageValue");
      out.average_utilization = ReadOptionalInt32(*current, "averageUtilization");
    }
    break;
  }
  return out;
}

AutoscalerStatus ReadStatus(const Node& status) {
  AutoscalerStatus out;
  out.observed_generation = ReadOptionalInt64(status, "observedGeneration");
  out.last_scale_time = ReadTime(status, "lastScaleTime");
  out.current_replicas = ReadInt32(status, "currentReplicas");
  out.desired_replicas = ReadInt32(status, "desiredReplicas");
  if (const Node* metrics = status.Find("currentMetrics")) {
    for (const Node& metric : metrics->items)
      out.current_metrics.push_back(ReadMetricStatus(metric));
  }
  if (const Node* conditions = status.Find("conditions")) {
    out.conditions = ReadConditions(*conditions);
  }
  return out;
}

void Complete(std::optional<HpaRules>& rules, std::vector<HpaPolicy> policies) {
  if (!rules.has_value()) rules.emplace();
  if (!rules->select_policy.has_value()) rules->select_policy = "Max";
  if (!rules->policies.has_value()) rules->policies = std::move(policies);
}

}  // namespace

absl::StatusOr<Hpa> DecodeV2(const Node& document) {
  absl::StatusOr<Node> object = Conform(document, kHpaShape, KeyMatch::kExact);
  if (!object.ok()) return object.status();
  Hpa out;
  out.metadata = ReadObjectMeta(*object);
  if (const Node* spec = object->Find("spec")) {
    out.scale_target_ref = ReadReference(*spec, "scaleTargetRef");
    out.min_replicas = ReadOptionalInt32(*spec, "minReplicas");
    out.max_replicas = ReadInt32(*spec, "maxReplicas");
    if (const Node* metrics = spec->Find("metrics")) {
      for (const Node& metric : metrics->items) {
        out.metrics.push_back({.type = ReadString(metric, "type"),
                               .object = ReadSource(metric, "object"),
                               .pods = ReadSource(metric, "pods"),
                               .resource = ReadSource(metric, "resource"),
                               .container_resource = ReadSource(metric, "containerResource"),
                               .external = ReadSource(metric, "external")});
      }
    }
    if (const Node* behavior = spec->Find("behavior")) {
      out.behavior = ReadBehavior(*behavior, "scaleUp", "scaleDown", /*internal_names=*/false);
    }
  }
  if (const Node* status = object->Find("status")) out.status = ReadStatus(*status);
  return out;
}

HpaMetric CpuUtilizationMetric(int32_t percent) {
  HpaMetric metric;
  metric.type = "Resource";
  metric.resource.emplace();
  metric.resource->name = "cpu";
  metric.resource->target.type = "Utilization";
  metric.resource->target.average_utilization = percent;
  return metric;
}

void ApplyV2Defaults(Hpa& hpa, bool has_triggers) {
  if (!hpa.min_replicas.has_value()) hpa.min_replicas = 1;
  if (hpa.metrics.empty() && !has_triggers) {
    hpa.metrics.push_back(CpuUtilizationMetric(kDefaultCpuUtilization));
  }
  if (!hpa.behavior.has_value()) return;
  Complete(hpa.behavior->scale_up, {{.type = "Pods", .value = 4, .period_seconds = 15},
                                    {.type = "Percent", .value = 100, .period_seconds = 15}});
  if (!hpa.behavior->scale_up->stabilization_window_seconds.has_value()) {
    hpa.behavior->scale_up->stabilization_window_seconds = 0;
  }
  // The window of scaling down stays open: the controller's flag fills it.
  Complete(hpa.behavior->scale_down, {{.type = "Percent", .value = 100, .period_seconds = 15}});
}

}  // namespace flyball::scaler
