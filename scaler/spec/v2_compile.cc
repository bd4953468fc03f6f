// Compiles the API's struct to the neutral form.
#include <utility>

#include "scaler/spec/v2.h"

namespace flyball::scaler {
namespace {

TargetType ParseTargetType(absl::string_view text) {
  if (text == "Utilization") return TargetType::kUtilization;
  if (text == "Value") return TargetType::kValue;
  if (text == "AverageValue") return TargetType::kAverageValue;
  return TargetType::kOther;
}

// nullptr if there is no such type.
const HpaBlock* BlockOf(absl::string_view type) {
  for (const HpaBlock& block : kHpaBlocks) {
    if (type == MetricTypeName(block.type)) return &block;
  }
  return nullptr;
}

// The controller reads an amount as the API server stores it, in canonical form. That decides what
// an amount becomes that is beyond int64 in thousandths: 1000000000000000000 is stored as 1E, which
// reads as 0.
TargetAmount StoredAmount(const kube::Quantity& amount) {
  const absl::StatusOr<kube::Quantity> stored = kube::Quantity::Parse(amount.ToString());
  return MakeTargetAmount(stored.ok() ? *stored : amount);
}

MetricSpec CompileMetric(const HpaMetric& metric) {
  MetricSpec out;
  out.type_text = metric.type;
  const HpaBlock* block = BlockOf(metric.type);
  if (block == nullptr) return out;
  out.type = block->type;
  // The block that the type names is the one that counts.
  const std::optional<HpaSource>& source = metric.*block->member;
  if (!source.has_value()) return out;
  out.resource = source->name;
  out.container = source->container;
  out.metric = MakeMetricIdentifier(source->metric_name, source->selector);
  out.described_object = source->described_object;
  out.target.type = ParseTargetType(source->target.type);
  if (source->target.value.has_value()) out.target.value = StoredAmount(*source->target.value);
  if (source->target.average_value.has_value()) {
    out.target.average_value = StoredAmount(*source->target.average_value);
  }
  out.target.average_utilization = source->target.average_utilization;
  return out;
}

ScalingRules CompileRules(const HpaRules& rules) {
  ScalingRules out;
  out.stabilization_window_seconds = rules.stabilization_window_seconds;
  const std::string select = rules.select_policy.value_or("Max");
  // Upstream takes any other word as Max.
  out.select_policy = select == "Disabled" ? SelectPolicy::kDisabled
                      : select == "Min"    ? SelectPolicy::kMin
                                           : SelectPolicy::kMax;
  for (const HpaPolicy& policy : rules.policies.value_or(std::vector<HpaPolicy>{})) {
    out.policies.push_back({.type = policy.type == "Pods"      ? PolicyType::kPods
                                    : policy.type == "Percent" ? PolicyType::kPercent
                                                               : PolicyType::kOther,
                            .value = policy.value,
                            .period_seconds = policy.period_seconds});
  }
  if (rules.tolerance.has_value()) out.tolerance = MakeRuleTolerance(*rules.tolerance);
  return out;
}

}  // namespace

MetricStatus CompileMetricStatus(HpaMetric&& status) {
  MetricStatus out;
  if (const HpaBlock* block = BlockOf(status.type)) out.type = block->type;
  out.type_text = std::move(status.type);
  for (const HpaBlock& block : kHpaBlocks) {
    if (!(status.*block.member).has_value()) continue;
    HpaSource& source = *(status.*block.member);
    out.resource = std::move(source.name);
    out.container = std::move(source.container);
    out.metric_name = std::move(source.metric_name);
    out.metric_selector = std::move(source.selector);
    out.described_object = std::move(source.described_object);
    out.value = source.target.value;
    out.average_value = source.target.average_value;
    out.average_utilization = source.target.average_utilization;
    break;
  }
  return out;
}

Autoscaler CompileHpa(const Hpa& hpa) {
  Autoscaler out;
  out.ns = hpa.metadata.ns;
  out.name = hpa.metadata.name;
  out.uid = hpa.metadata.uid;
  out.resource_version = hpa.metadata.resource_version;
  out.generation = hpa.metadata.generation;
  out.labels = hpa.metadata.labels;
  out.annotations = hpa.metadata.annotations;
  out.scale_target = hpa.scale_target_ref;
  out.min_replicas = hpa.min_replicas;
  out.max_replicas = hpa.max_replicas;
  for (const HpaMetric& metric : hpa.metrics) out.metrics.push_back(CompileMetric(metric));
  if (hpa.behavior.has_value()) {
    out.behavior =
        Behavior{.scale_up = CompileRules(hpa.behavior->scale_up.value_or(HpaRules{})),
                 .scale_down = CompileRules(hpa.behavior->scale_down.value_or(HpaRules{}))};
  }
  out.status = hpa.status;
  return out;
}

}  // namespace flyball::scaler
