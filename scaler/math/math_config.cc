#include "scaler/math/math_config.h"

namespace flyball::scaler {

MathConfig MathConfigOf(const ControllerFlags& flags, const Dialect& dialect) {
  const bool since_35 = dialect.minor >= 35;
  const bool since_36 = dialect.minor >= 36;
  const bool since_37 = dialect.minor >= 37;
  const FeatureGates& gates = dialect.gates;
  MathConfig out;
  static_cast<ControllerFlags&>(out) = flags;
  out.configurable_tolerance = gates.configurable_tolerance;
  out.saturates = since_35;
  out.wakes_by_condition = since_36;
  out.scaled_to_zero_condition = since_36 && gates.scale_to_zero;
  out.observes_generation = since_37 && gates.generation;
  out.decides_news_at_once = since_37;
  out.stops_when_deleted = since_37;
  out.spec_fault_labels_reconcile = since_37;
  out.names_described_object = since_37;
  if (since_37) {
    out.rivals_text =
        gates.optimized_selector_store ? RivalsText::kTwoForExample : RivalsText::kAllForExample;
  }
  out.labels = since_35 ? kube::LabelRules::k1_35 : kube::LabelRules::k1_34;
  out.requests = {.pod_level = gates.pod_level_resources, .container_must_exist = since_35};
  return out;
}

MathConfig ForOwnKind(MathConfig config) {
  config.configurable_tolerance = true;
  config.wakes_by_condition = false;
  config.scaled_to_zero_condition = false;
  return config;
}

}  // namespace flyball::scaler
