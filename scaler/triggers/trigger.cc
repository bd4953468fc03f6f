#include "scaler/triggers/trigger.h"

#include <optional>

namespace flyball::scaler {

MetricSpec ToMetricSpec(const TriggerMetric& metric) {
  MetricSpec out;
  out.type = MetricType::kExternal;
  out.type_text = "External";
  out.metric = MakeMetricIdentifier(metric.name, std::nullopt);
  out.target.type = metric.target_type;
  const TargetAmount amount = MakeTargetAmount(kube::Quantity::FromMilli(metric.target_milli));
  (metric.target_type == TargetType::kValue ? out.target.value : out.target.average_value) = amount;
  return out;
}

}  // namespace flyball::scaler
