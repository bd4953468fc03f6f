// Reads autoscaling/v2 and fills its defaults.
#include "scaler/spec/v2.h"

#include <utility>

#include "scaler/spec/v2_fields.h"

namespace flyball::scaler {
namespace {

constexpr auto kIdentifierFields = [](auto& field, HpaSource& to) {
  field("name", to.metric_name);
  field("selector", to.selector, kSelectorFields);
};

constexpr auto kCurrentFields = [](auto& field, HpaTarget& to) {
  field("value", to.value);
  field("averageValue", to.average_value);
  field("averageUtilization", to.average_utilization);
};
constexpr auto kTargetFields = [](auto& field, HpaTarget& to) {
  field("type", to.type);
  kCurrentFields(field, to);
};

// The fields of a metric. `name` is the member with its amounts: `target` in a spec, `current` in a
// status.
constexpr auto MetricFields = [](const char* name, const auto& amounts) {
  const auto resource = [=](auto& field, HpaSource& to) {
    field("name", to.name);
    field(name, to.target, amounts);
  };
  const auto series = [=](auto& field, HpaSource& to) {
    field("metric", to, kIdentifierFields);
    field(name, to.target, amounts);
  };
  return [=](auto& field, HpaMetric& to) {
    field("type", to.type);
    field("object", to.object, [=](auto& field, HpaSource& to) {
      field("describedObject", to.described_object, kReferenceFields);
      series(field, to);
    });
    field("pods", to.pods, series);
    field("resource", to.resource, resource);
    field("containerResource", to.container_resource, [=](auto& field, HpaSource& to) {
      resource(field, to);
      field("container", to.container);
    });
    field("external", to.external, series);
  };
};

void Complete(std::optional<HpaRules>& rules, std::vector<HpaPolicy> policies) {
  if (!rules.has_value()) rules.emplace();
  if (!rules->select_policy.has_value()) rules->select_policy = "Max";
  if (!rules->policies.has_value()) rules->policies = std::move(policies);
}

}  // namespace

absl::StatusOr<Hpa> DecodeV2(const Node& document) {
  Hpa out;
  std::vector<HpaMetric> current;
  const auto spec = [](auto& field, Hpa& to) {
    kScalingFields(field, to);
    field("metrics", to.metrics, MetricFields("target", kTargetFields));
    field("behavior", to.behavior, kBehaviorFields);
  };
  const auto status = [&current](auto& field, AutoscalerStatus& to) {
    kStatusFields(field, to);
    field("currentMetrics", current, MetricFields("current", kCurrentFields));
    field("conditions", to.conditions, kConditionFields);
  };
  RETURN_IF_ERROR(DecodeObject(document, spec, status, out));
  for (HpaMetric& metric : current) {
    out.status.current_metrics.push_back(CompileMetricStatus(std::move(metric)));
  }
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
  // The window of scaling down is left to the controller, where a flag says it.
  Complete(hpa.behavior->scale_down, {{.type = "Percent", .value = 100, .period_seconds = 15}});
}

}  // namespace flyball::scaler
