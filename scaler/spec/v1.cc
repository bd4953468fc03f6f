// Reads autoscaling/v1, which keeps fields that it lacks in annotations.
//
// Source: Kubernetes v1.34.4 and v1.37.1 pkg/apis/autoscaling/v1/conversion.go.
#include <iterator>
#include <utility>

#include "scaler/spec/v2_fields.h"

namespace flyball::scaler {
namespace {

// The names of the amounts, which differ between a metric spec and a metric's status.
struct AmountNames {
  const char* value;
  const char* average_value;
  const char* average_utilization;
};
constexpr AmountNames kTarget{"targetValue", "targetAverageValue", "targetAverageUtilization"};
constexpr AmountNames kCurrent{"currentValue", "currentAverageValue", "currentAverageUtilization"};

constexpr auto AnnotatedMetricFields = [](AmountNames names) {
  const auto resource = [names](auto& field, HpaSource& to) {
    field("name", to.name);
    field(names.average_utilization, to.target.average_utilization);
    field(names.average_value, to.target.average_value);
  };
  return [names, resource](auto& field, HpaMetric& to) {
    field("type", to.type);
    field("object", to.object, [names](auto& field, HpaSource& to) {
      field("target", to.described_object, kReferenceFields);
      field("metricName", to.metric_name);
      field(names.value, to.target.value);
      field("selector", to.selector, kSelectorFields);
      field("averageValue", to.target.average_value);
    });
    field("pods", to.pods, [names](auto& field, HpaSource& to) {
      field("metricName", to.metric_name);
      field(names.average_value, to.target.average_value);
      field("selector", to.selector, kSelectorFields);
    });
    field("resource", to.resource, resource);
    field("containerResource", to.container_resource, [resource](auto& field, HpaSource& to) {
      resource(field, to);
      field("container", to.container);
    });
    field("external", to.external, [names](auto& field, HpaSource& to) {
      field("metricName", to.metric_name);
      field("metricSelector", to.selector, kSelectorFields);
      field(names.value, to.target.value);
      field(names.average_value, to.target.average_value);
    });
  };
};

// In Go the field is no pointer, so that it is 0 if it is absent.
void BeZeroAtLeast(std::optional<kube::Quantity>& quantity) {
  if (!quantity.has_value()) quantity.emplace();
}

// Fills in what v2 has in a spec and v1 does not.
void CompleteSpec(bool zero_is_no_value, HpaMetric& metric) {
  if (metric.object.has_value()) {
    HpaTarget& target = metric.object->target;
    BeZeroAtLeast(target.value);
    if (zero_is_no_value && target.average_value.has_value() && target.value->Sign() == 0) {
      target.value.reset();
    }
    target.type = target.average_value.has_value() ? "AverageValue" : "Value";
  }
  if (metric.pods.has_value()) {
    BeZeroAtLeast(metric.pods->target.average_value);
    metric.pods->target.type = "AverageValue";
  }
  for (auto* source : {&metric.resource, &metric.container_resource}) {
    if (!source->has_value()) continue;
    HpaTarget& target = (*source)->target;
    target.type = target.average_utilization.has_value() ? "Utilization" : "AverageValue";
  }
  if (metric.external.has_value()) {
    HpaTarget& target = metric.external->target;
    target.type = target.value.has_value() ? "Value" : "AverageValue";
  }
}

void CompleteStatus(HpaMetric& metric) {
  for (auto* source : {&metric.object, &metric.external}) {
    if (source->has_value()) BeZeroAtLeast((*source)->target.value);
  }
  for (auto* source : {&metric.pods, &metric.resource, &metric.container_resource}) {
    if (source->has_value()) BeZeroAtLeast((*source)->target.average_value);
  }
}

// Reads the JSON of an annotation into `to`. False if there is none or it cannot be read, which
// upstream ignores. Upstream reads it with encoding/json, which ignores the case of names.
template <typename T, typename Fields>
bool ReadAnnotation(const Hpa& hpa, const char* name, T& to, const Fields& fields) {
  const auto annotation =
      hpa.metadata.annotations.find(absl::StrCat("autoscaling.alpha.kubernetes.io/", name));
  if (annotation == hpa.metadata.annotations.end()) return false;
  const absl::StatusOr<Node> json = ParseJson(annotation->second, {.max_nodes = 100'000});
  return json.ok() && Decode(*json, KeyMatch::kIgnoreCase, to, fields).ok();
}

// Annotations override fields; metrics of annotations come before those of fields.
void ReadAnnotations(bool zero_is_no_value, Hpa& hpa) {
  if (std::vector<HpaMetric> metrics;
      ReadAnnotation(hpa, "metrics", metrics, AnnotatedMetricFields(kTarget))) {
    for (HpaMetric& metric : metrics) CompleteSpec(zero_is_no_value, metric);
    metrics.insert(metrics.end(), std::make_move_iterator(hpa.metrics.begin()),
                   std::make_move_iterator(hpa.metrics.end()));
    hpa.metrics = std::move(metrics);
  }
  if (HpaBehavior behavior; ReadAnnotation(hpa, "behavior", behavior, kBehaviorFields) &&
                            (behavior.scale_up.has_value() || behavior.scale_down.has_value())) {
    hpa.behavior = std::move(behavior);
  }
  if (std::vector<HpaMetric> current;
      ReadAnnotation(hpa, "current-metrics", current, AnnotatedMetricFields(kCurrent))) {
    hpa.status.current_metrics.clear();
    for (HpaMetric& metric : current) {
      CompleteStatus(metric);
      hpa.status.current_metrics.push_back(CompileMetricStatus(std::move(metric)));
    }
  }
  if (std::vector<Condition> conditions;
      ReadAnnotation(hpa, "conditions", conditions, kConditionFields)) {
    hpa.status.conditions = std::move(conditions);
  }
}

}  // namespace

absl::StatusOr<Hpa> DecodeV1(const Node& document, bool zero_is_no_value) {
  Hpa out;
  std::optional<int32_t> target_cpu;
  std::optional<int32_t> current_cpu;
  const auto spec = [&target_cpu](auto& field, Hpa& to) {
    kScalingFields(field, to);
    field("targetCPUUtilizationPercentage", target_cpu);
  };
  const auto status = [&current_cpu](auto& field, AutoscalerStatus& to) {
    kStatusFields(field, to);
    field("currentCPUUtilizationPercentage", current_cpu);
  };
  RETURN_IF_ERROR(DecodeObject(document, spec, status, out));
  if (target_cpu.has_value()) out.metrics.push_back(CpuUtilizationMetric(*target_cpu));
  if (!out.min_replicas.has_value()) out.min_replicas = 1;
  if (current_cpu.has_value()) {
    MetricStatus& cpu = out.status.current_metrics.emplace_back();
    cpu.type = MetricType::kResource;
    cpu.type_text = "Resource";
    cpu.resource = "cpu";
    cpu.average_utilization = current_cpu;
  }
  ReadAnnotations(zero_is_no_value, out);
  if (out.metrics.empty()) out.metrics.push_back(CpuUtilizationMetric(kDefaultCpuUtilization));
  return out;
}

}  // namespace flyball::scaler
