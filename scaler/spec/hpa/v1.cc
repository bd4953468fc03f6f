// autoscaling/v1, which keeps what it has no fields for in annotations.
// Source: Kubernetes v1.34.4 pkg/apis/autoscaling/v1/conversion.go.
#include <iterator>

#include "scaler/spec/hpa.h"
#include "scaler/spec/hpa_read.h"

namespace flyball::scaler {
namespace {

using Type = Shape::Type;

constexpr char kMetricsAnnotation[] = "autoscaling.alpha.kubernetes.io/metrics";
constexpr char kBehaviorAnnotation[] = "autoscaling.alpha.kubernetes.io/behavior";
constexpr char kCurrentMetricsAnnotation[] = "autoscaling.alpha.kubernetes.io/current-metrics";
constexpr char kConditionsAnnotation[] = "autoscaling.alpha.kubernetes.io/conditions";

const Shape kSpecShape{.fields = {{"scaleTargetRef", &kReferenceShape},
                                  {"minReplicas", &kInt32Shape, true},
                                  {"maxReplicas", &kInt32Shape},
                                  {"targetCPUUtilizationPercentage", &kInt32Shape, true}}};
const Shape kStatusShape{.fields = {{"observedGeneration", &kInt64Shape, true},
                                    {"lastScaleTime", &kTimeShape, true},
                                    {"currentReplicas", &kInt32Shape},
                                    {"desiredReplicas", &kInt32Shape},
                                    {"currentCPUUtilizationPercentage", &kInt32Shape, true}}};
const Shape kHpaShape{.fields = {{"kind", &kStringShape},
                                 {"apiVersion", &kStringShape},
                                 {"metadata", &kObjectMetaShape},
                                 {"spec", &kSpecShape},
                                 {"status", &kStatusShape}}};

const Shape kObjectSourceShape{.fields = {{"target", &kReferenceShape},
                                          {"metricName", &kStringShape},
                                          {"targetValue", &kQuantityShape},
                                          {"selector", &kSelectorShape, true},
                                          {"averageValue", &kQuantityShape, true}}};
const Shape kPodsSourceShape{.fields = {{"metricName", &kStringShape},
                                        {"targetAverageValue", &kQuantityShape},
                                        {"selector", &kSelectorShape, true}}};
const Shape kResourceSourceShape{.fields = {{"name", &kStringShape},
                                            {"targetAverageUtilization", &kInt32Shape, true},
                                            {"targetAverageValue", &kQuantityShape, true}}};
const Shape kContainerSourceShape{.fields = {{"name", &kStringShape},
                                             {"targetAverageUtilization", &kInt32Shape, true},
                                             {"targetAverageValue", &kQuantityShape, true},
                                             {"container", &kStringShape}}};
const Shape kExternalSourceShape{.fields = {{"metricName", &kStringShape},
                                            {"metricSelector", &kSelectorShape, true},
                                            {"targetValue", &kQuantityShape, true},
                                            {"targetAverageValue", &kQuantityShape, true}}};
const Shape kMetricShape{.fields = {{"type", &kStringShape},
                                    {"object", &kObjectSourceShape, true},
                                    {"pods", &kPodsSourceShape, true},
                                    {"resource", &kResourceSourceShape, true},
                                    {"containerResource", &kContainerSourceShape, true},
                                    {"external", &kExternalSourceShape, true}}};
const Shape kMetricsShape{.type = Type::kList, .item = &kMetricShape};

const Shape kObjectStatusShape{.fields = {{"target", &kReferenceShape},
                                          {"metricName", &kStringShape},
                                          {"currentValue", &kQuantityShape},
                                          {"selector", &kSelectorShape, true},
                                          {"averageValue", &kQuantityShape, true}}};
const Shape kPodsStatusShape{.fields = {{"metricName", &kStringShape},
                                        {"currentAverageValue", &kQuantityShape},
                                        {"selector", &kSelectorShape, true}}};
const Shape kResourceStatusShape{.fields = {{"name", &kStringShape},
                                            {"currentAverageUtilization", &kInt32Shape, true},
                                            {"currentAverageValue", &kQuantityShape}}};
const Shape kContainerStatusShape{.fields = {{"name", &kStringShape},
                                             {"currentAverageUtilization", &kInt32Shape, true},
                                             {"currentAverageValue", &kQuantityShape},
                                             {"container", &kStringShape}}};
const Shape kExternalStatusShape{.fields = {{"metricName", &kStringShape},
                                            {"metricSelector", &kSelectorShape, true},
                                            {"currentValue", &kQuantityShape},
                                            {"currentAverageValue", &kQuantityShape, true}}};
const Shape kMetricStatusShape{.fields = {{"type", &kStringShape},
                                          {"object", &kObjectStatusShape, true},
                                          {"pods", &kPodsStatusShape, true},
                                          {"resource", &kResourceStatusShape, true},
                                          {"containerResource", &kContainerStatusShape, true},
                                          {"external", &kExternalStatusShape, true}}};
const Shape kMetricStatusesShape{.type = Type::kList, .item = &kMetricStatusShape};

// The internal type has no names for JSON, so its Go names are used.
const Shape kPolicyShape{
    .fields = {{"Type", &kStringShape}, {"Value", &kInt32Shape}, {"PeriodSeconds", &kInt32Shape}}};
const Shape kPoliciesShape{.type = Type::kList, .item = &kPolicyShape};
const Shape kRulesShape{.fields = {{"StabilizationWindowSeconds", &kInt32Shape, true},
                                   {"SelectPolicy", &kStringShape, true},
                                   {"Policies", &kPoliciesShape},
                                   {"Tolerance", &kQuantityShape, true}}};
const Shape kBehaviorShape{
    .fields = {{"ScaleUp", &kRulesShape, true}, {"ScaleDown", &kRulesShape, true}}};

HpaSource ReadPerPodSource(const Node& source) {
  HpaSource out;
  out.name = ReadString(source, "name");
  out.container = ReadString(source, "container");
  out.target.average_value = ReadOptionalQuantity(source, "targetAverageValue");
  out.target.average_utilization = ReadOptionalInt32(source, "targetAverageUtilization");
  out.target.type = out.target.average_utilization.has_value() ? "Utilization" : "AverageValue";
  return out;
}

HpaMetric ReadMetric(const Node& metric) {
  HpaMetric out;
  out.type = ReadString(metric, "type");
  if (const Node* source = metric.Find("object")) {
    HpaSource& object = out.object.emplace();
    object.described_object = ReadReference(*source, "target");
    object.metric_name = ReadString(*source, "metricName");
    object.selector = ReadSelector(*source, "selector");
    object.target.value = ReadQuantity(*source, "targetValue");  // an absent one becomes 0
    object.target.average_value = ReadOptionalQuantity(*source, "averageValue");
    object.target.type = object.target.average_value.has_value() ? "AverageValue" : "Value";
  }
  if (const Node* source = metric.Find("pods")) {
    HpaSource& pods = out.pods.emplace();
    pods.metric_name = ReadString(*source, "metricName");
    pods.selector = ReadSelector(*source, "selector");
    pods.target.type = "AverageValue";
    pods.target.average_value = ReadQuantity(*source, "targetAverageValue");
  }
  if (const Node* source = metric.Find("resource")) out.resource = ReadPerPodSource(*source);
  if (const Node* source = metric.Find("containerResource")) {
    out.container_resource = ReadPerPodSource(*source);
  }
  if (const Node* source = metric.Find("external")) {
    HpaSource& external = out.external.emplace();
    external.metric_name = ReadString(*source, "metricName");
    external.selector = ReadSelector(*source, "metricSelector");
    external.target.value = ReadOptionalQuantity(*source, "targetValue");
    external.target.average_value = ReadOptionalQuantity(*source, "targetAverageValue");
    external.target.type = external.target.value.has_value() ? "Value" : "AverageValue";
  }
  return out;
}

MetricStatus ReadMetricStatus(const Node& status) {
  MetricStatus out;
  out.type_text = ReadString(status, "type");
  out.type = ParseMetricType(out.type_text);
  for (const char* name : {"object", "pods", "resource", "containerResource", "external"}) {
    const Node* block = status.Find(name);
    if (block == nullptr) continue;
    const bool series = block->Find("metricSelector") != nullptr;
    out.resource = ReadString(*block, "name");
    out.container = ReadString(*block, "container");
    out.metric_name = ReadString(*block, "metricName");
    out.metric_selector = ReadSelector(*block, series ? "metricSelector" : "selector");
    out.described_object = ReadReference(*block, "target");
    out.average_utilization = ReadOptionalInt32(*block, "currentAverageUtilization");
    const absl::string_view kind = name;
    if (kind == "object" || kind == "external") out.value = ReadQuantity(*block, "currentValue");
    if (kind == "object") {
      out.average_value = ReadOptionalQuantity(*block, "averageValue");
    } else if (kind == "external") {
      out.average_value = ReadOptionalQuantity(*block, "currentAverageValue");
    } else {
      out.average_value = ReadQuantity(*block, "currentAverageValue");
    }
    break;
  }
  return out;
}

void ReadStatus(const Node& object, AutoscalerStatus& out) {
  const Node* status = object.Find("status");
  if (status == nullptr) return;
  out.observed_generation = ReadOptionalInt64(*status, "observedGeneration");
  out.last_scale_time = ReadTime(*status, "lastScaleTime");
  out.current_replicas = ReadInt32(*status, "currentReplicas");
  out.desired_replicas = ReadInt32(*status, "desiredReplicas");
  if (const auto percent = ReadOptionalInt32(*status, "currentCPUUtilizationPercentage")) {
    MetricStatus cpu;
    cpu.type = MetricType::kResource;
    cpu.type_text = "Resource";
    cpu.resource = "cpu";
    cpu.average_utilization = percent;
    out.current_metrics.push_back(std::move(cpu));
  }
}

// The JSON in an annotation; absent when there is none or it cannot be read, which upstream
// ignores.
std::optional<Node> ReadAnnotation(const ObjectMeta& metadata, const char* name,
                                   const Shape& shape) {
  const auto annotation = metadata.annotations.find(name);
  if (annotation == metadata.annotations.end()) return std::nullopt;
  absl::StatusOr<Node> json = ParseJson(annotation->second, {.max_nodes = 100'000});
  if (!json.ok()) return std::nullopt;
  absl::StatusOr<Node> conformed = Conform(*json, shape, KeyMatch::kIgnoreCase);
  if (!conformed.ok()) return std::nullopt;
  return *std::move(conformed);
}

// What annotations say wins over, or comes before, what fields say.
void ReadAnnotations(Hpa& hpa) {
  if (const auto list = ReadAnnotation(hpa.metadata, kMetricsAnnotation, kMetricsShape)) {
    std::vector<HpaMetric> metrics;
    for (const Node& metric : list->items) metrics.push_back(ReadMetric(metric));
    metrics.insert(metrics.end(), std::make_move_iterator(hpa.metrics.begin()),
                   std::make_move_iterator(hpa.metrics.end()));
    hpa.metrics = std::move(metrics);
  }
  if (const auto object = ReadAnnotation(hpa.metadata, kBehaviorAnnotation, kBehaviorShape)) {
    HpaBehavior behavior = ReadBehavior(*object, "ScaleUp", "ScaleDown", /*internal_names=*/true);
    if (behavior.scale_up.has_value() || behavior.scale_down.has_value()) {
      hpa.behavior = std::move(behavior);
    }
  }
  if (const auto list =
          ReadAnnotation(hpa.metadata, kCurrentMetricsAnnotation, kMetricStatusesShape)) {
    hpa.status.current_metrics.clear();
    for (const Node& metric : list->items) {
      hpa.status.current_metrics.push_back(ReadMetricStatus(metric));
    }
  }
  if (const auto list = ReadAnnotation(hpa.metadata, kConditionsAnnotation, kConditionListShape)) {
    hpa.status.conditions = ReadConditions(*list);
  }
}

}  // namespace

absl::StatusOr<Hpa> DecodeV1(const Node& document) {
  absl::StatusOr<Node> object = Conform(document, kHpaShape, KeyMatch::kExact);
  if (!object.ok()) return object.status();
  Hpa out;
  out.metadata = ReadObjectMeta(*object);
  if (const Node* spec = object->Find("spec")) {
    out.scale_target_ref = ReadReference(*spec, "scaleTargetRef");
    out.min_replicas = ReadOptionalInt32(*spec, "minReplicas");
    out.max_replicas = ReadInt32(*spec, "maxReplicas");
    if (const auto percent = ReadOptionalInt32(*spec, "targetCPUUtilizationPercentage")) {
      out.metrics.push_back(CpuUtilizationMetric(*percent));
    }
  }
  if (!out.min_replicas.has_value()) out.min_replicas = 1;
  ReadStatus(*object, out.status);
  ReadAnnotations(out);
  if (out.metrics.empty()) out.metrics.push_back(CpuUtilizationMetric(kDefaultCpuUtilization));
  return out;
}

}  // namespace flyball::scaler
