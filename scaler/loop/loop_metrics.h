// The scaler's metrics about itself, for Prometheus.
//
// Thread-safe. Registered in the registry that is passed in, which outlives this object:
//   flyball_scaler_decisions_total{kind,mode,outcome,action}   kind: hpa, own; outcome: decided,
//       metrics_failed, scale_unknown, switched_off, above_max, below_min; action: scale_up,
//       scale_down, none, and failed for a scale write that failed
//   flyball_scaler_decisions_unchanged_total          the inputs, and so the outcome, were the same
//   flyball_scaler_decision_duration_seconds          histogram: reading and deciding
//   flyball_scaler_reaction_seconds                   histogram: newest sample to scale write
//   flyball_scaler_reading_age_seconds                histogram: newest sample to decision
//   flyball_scaler_autoscalers{state}                 known, owned, steady
//   flyball_scaler_pods, flyball_scaler_queue_length
//   flyball_scaler_writes_total{what}                 scale, status
//   flyball_scaler_conflicts_total, flyball_scaler_api_calls_total
//   flyball_scaler_shards_owned
//   flyball_scaler_state_writes_total{result}         writes of what autoscalers remember: success,
//                                                     failure
//   flyball_scaler_log_bytes                          size of the decisions kept for `explain`
//   flyball_shadow_comparisons_total{result,reason}   result: equal, different
//   flyball_advised_autoscalers
//
// For HorizontalPodAutoscalers in mode act there are also these, with the names, labels and buckets
// of the controller of Kubernetes 1.34.4:
//   horizontal_pod_autoscaler_controller_reconciliations_total{action,error}
//   horizontal_pod_autoscaler_controller_reconciliation_duration_seconds{action,error}
//   horizontal_pod_autoscaler_controller_metric_computation_total{action,error,metric_type}
//   horizontal_pod_autoscaler_controller_metric_computation_duration_seconds{…}  the duration of
//       the whole decision divided by the number of metrics, since they are not computed one by one
#pragma once

#include <functional>
#include <memory>

#include "scaler/loop/scaler.h"
#include "scaler/shards/state_store.h"
#include "scaler/views/advise.h"
#include "scaler/views/decision_log.h"
#include "scaler/views/decision_record.h"
#include "scaler/views/shadow.h"

namespace prometheus {
class Registry;
}

namespace flyball::scaler {

// The sources of those numbers that are read when the metrics are scraped. A metric whose source is
// empty or null is left out.
struct LoopMetricSources {
  std::function<Scaler::Stats()> scaler;
  std::function<size_t()> shards_owned;
  const StateStore* state = nullptr;
  const DecisionLog* log = nullptr;
  const Shadow* shadow = nullptr;
  const Advise* advise = nullptr;
};

class LoopMetrics : public DecisionObserver {
 public:
  LoopMetrics(prometheus::Registry& registry, Clock& clock);
  ~LoopMetrics() override;

  void OnDecision(const DecisionRecord& record) override;
  void OnForgotten(const AutoscalerKey&) override {}
  void OnRound(const RoundRecord& round) override;

  // Takes over what the sources say now; called before each scrape.
  void Refresh(const LoopMetricSources& sources);

 private:
  struct Families;
  Clock& clock_;
  std::unique_ptr<Families> families_;
};

}  // namespace flyball::scaler
