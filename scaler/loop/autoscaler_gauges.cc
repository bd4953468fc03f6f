#include "scaler/loop/autoscaler_gauges.h"

#include <prometheus/metric_family.h>

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "scaler/views/limiting_reason.h"

namespace flyball::scaler {
namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;

prometheus::MetricFamily Gauge(std::string name, std::string help) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = prometheus::MetricType::Gauge;
  return family;
}

void Add(prometheus::MetricFamily& family, const Labels& labels, double value) {
  prometheus::ClientMetric& metric = family.metric.emplace_back();
  metric.label = labels;
  metric.gauge.value = value;
}

Labels With(const Labels& labels, std::string name, std::string value) {
  Labels out = labels;
  out.push_back({std::move(name), std::move(value)});
  return out;
}

struct Families {
  prometheus::MetricFamily current =
      Gauge("flyball_autoscaler_current_replicas",
            "Replicas that the target had when the autoscaler was last decided");
  prometheus::MetricFamily desired =
      Gauge("flyball_autoscaler_desired_replicas",
            "Replicas that were decided, after stabilization windows, policies and bounds");
  prometheus::MetricFamily unbounded =
      Gauge("flyball_autoscaler_unbounded_replicas",
            "Replicas that the load asks for, before stabilization windows, policies and bounds");
  prometheus::MetricFamily proposal = Gauge("flyball_autoscaler_proposal_replicas",
                                            "Replicas that the metric which decided asks for");
  prometheus::MetricFamily age =
      Gauge("flyball_autoscaler_reading_age_seconds",
            "Age in seconds of the reading that decided, when it was decided");
  prometheus::MetricFamily limited =
      Gauge("flyball_autoscaler_limited",
            "Always 1; its label says what kept the count from being what the load asks for");

  void AddDecision(const AutoscalerKey& key, const LoggedDecision& last) {
    const Decision& decision = last.decision;
    const Labels labels = {
        {"kind", key.kind == AutoscalerKind::kHpa ? "HorizontalPodAutoscaler" : "Autoscaler"},
        {"namespace", key.ns},
        {"autoscaler", key.name}};
    Add(limited, With(labels, "reason", std::string(LimitingReason(decision))), 1);
    if (decision.outcome == Outcome::kScaleUnknown) return;
    Add(current, labels, decision.current);
    Add(desired, labels, decision.rescale ? decision.desired : decision.current);
    if (decision.outcome != Outcome::kDecided) return;
    Add(unbounded, labels, decision.recommendation);
    if (!decision.combination.has_value() || !decision.combination->winner.has_value()) return;
    const size_t winner = *decision.combination->winner;
    const Proposal& won = decision.proposals[winner];
    Add(proposal, With(labels, "metric", won.name), won.replicas);
    if (winner >= last.readings.size() || !last.readings[winner].timestamp.has_value()) return;
    Add(age, labels, absl::ToDoubleSeconds(decision.now - *last.readings[winner].timestamp));
  }
};

}  // namespace

std::vector<prometheus::MetricFamily> AutoscalerGauges(const DecisionLog& log) {
  Families families;
  log.ForEachNewest([&](const AutoscalerKey& key, const LoggedDecision& last) {
    families.AddDecision(key, last);
  });
  std::vector<prometheus::MetricFamily> out;
  for (prometheus::MetricFamily* family :
       {&families.current, &families.desired, &families.unbounded, &families.proposal,
        &families.age, &families.limited}) {
    if (!family->metric.empty()) out.push_back(std::move(*family));
  }
  return out;
}

}  // namespace flyball::scaler
