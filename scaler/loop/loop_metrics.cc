#include "scaler/loop/loop_metrics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "prometheus/counter.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"

namespace flyball::scaler {
namespace {

using prometheus::BuildCounter;
using prometheus::BuildGauge;
using prometheus::BuildHistogram;
using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::Labels;
using prometheus::Registry;
using Buckets = Histogram::BucketBoundaries;

constexpr const char* kKinds[] = {"hpa", "own"};
constexpr const char* kOutcomes[] = {"scale_unknown", "switched_off",   "above_max",
                                     "below_min",     "metrics_failed", "decided"};
constexpr const char* kActions[] = {"none", "scale_up", "scale_down", "failed"};

Buckets Doubling(double first, int count) {
  Buckets buckets;
  for (int k = 0; k < count; ++k) buckets.push_back(first * std::ldexp(1.0, k));
  return buckets;
}

const Buckets& DurationBuckets() {
  static const Buckets& buckets = *new Buckets(Doubling(0.0001, 18));
  return buckets;
}
const Buckets& AgeBuckets() {
  static const Buckets& buckets = *new Buckets(Doubling(0.05, 12));
  return buckets;
}
// The buckets of the stock controller's histograms.
const Buckets& StockBuckets() {
  static const Buckets& buckets = *new Buckets(Doubling(0.001, 15));
  return buckets;
}

// Observes the same value `times` times.
void ObserveMany(Histogram& histogram, const Buckets& buckets, double value, double times) {
  if (times == 1) return histogram.Observe(value);
  std::vector<double> increments(buckets.size() + 1);
  const auto bucket = std::lower_bound(buckets.begin(), buckets.end(), value);
  increments[static_cast<size_t>(bucket - buckets.begin())] = times;
  histogram.ObserveMultiple(increments, value * times);
}

Family<Counter>& AddCounter(Registry& registry, const char* name, const char* help) {
  return BuildCounter().Name(name).Help(help).Register(registry);
}
Family<Gauge>& AddGauge(Registry& registry, const char* name, const char* help) {
  return BuildGauge().Name(name).Help(help).Register(registry);
}
Family<Histogram>& AddHistogram(Registry& registry, const char* name, const char* help) {
  return BuildHistogram().Name(name).Help(help).Register(registry);
}

size_t ActionOf(const DecisionRecord& record) {
  if (record.front_waits) return 0;
  if (!record.scale_error.empty()) return 3;
  if (!record.decision->rescale) return 0;
  return record.decision->desired > record.decision->current ? 1 : 2;
}

// Keeps a counter equal to a total that only grows.
class Follower {
 public:
  explicit Follower(Counter& counter) : counter_(counter) {}
  void Follow(uint64_t total) {
    if (total > last_) counter_.Increment(static_cast<double>(total - last_));
    last_ = total;
  }

 private:
  Counter& counter_;
  uint64_t last_ = 0;
};

}  // namespace

struct LoopMetrics::Families {
  explicit Families(Registry& its_registry) : registry(its_registry) {
    for (const char* reason : kShadowReasonNames) {
      different.emplace_back(comparisons.Add({{"reason", reason}, {"result", "different"}}));
    }
  }

  // Each decision needs one, so it is found by index and not by its labels; made at first use.
  Counter& Decisions(size_t kind, size_t mode, size_t outcome, size_t action) {
    std::atomic<Counter*>& slot = by_labels[kind][mode][outcome][action];
    Counter* counter = slot.load(std::memory_order_acquire);
    if (counter == nullptr) {
      counter = &decisions.Add({{"kind", kKinds[kind]},
                                {"mode", ModeName(static_cast<Mode>(mode))},
                                {"outcome", kOutcomes[outcome]},
                                {"action", kActions[action]}});
      slot.store(counter, std::memory_order_release);
    }
    return *counter;
  }

  // Adds `times` equal decisions to the metrics that are named as the stock controller's.
  void Reconciled(const MonitorLabels& monitor, double took, double times) {
    const Buckets& buckets = StockBuckets();
    const Labels labels = {{"action", kActionLabels[static_cast<size_t>(monitor.action)]},
                           {"error", kErrorLabels[static_cast<size_t>(monitor.error)]}};
    reconciliations.Add(labels).Increment(times);
    ObserveMany(reconciliation_seconds.Add(labels, buckets), buckets, took, times);
    for (const MetricLabels& metric : monitor.metrics) {
      const Labels each = {{"action", kActionLabels[static_cast<size_t>(metric.action)]},
                           {"error", kErrorLabels[static_cast<size_t>(metric.error)]},
                           {"metric_type", metric.type}};
      computations.Add(each).Increment(times);
      ObserveMany(computation_seconds.Add(each, buckets), buckets,
                  took / static_cast<double>(monitor.metrics.size()), times);
    }
  }

  Registry& registry;
  Family<Counter>& decisions = AddCounter(
      registry, "flyball_scaler_decisions_total",
      "Decisions of the scaler: of which kind of autoscaler, in which mode, what they were made "
      "from (outcome) and what they did to the replicas (action)");
  Counter& unchanged =
      AddCounter(registry, "flyball_scaler_decisions_unchanged_total",
                 "Decisions on the same inputs as the one before, which come to the same")
          .Add({});
  Histogram& duration =
      AddHistogram(registry, "flyball_scaler_decision_duration_seconds",
                   "Seconds that reading the metrics and deciding took, for each decision")
          .Add({}, DurationBuckets());
  Histogram& reaction =
      AddHistogram(registry, "flyball_scaler_reaction_seconds",
                   "Seconds from the newest sample that a decision read to its scale write")
          .Add({}, AgeBuckets());
  Histogram& age = AddHistogram(registry, "flyball_scaler_reading_age_seconds",
                                "Age in seconds of the newest sample that a decision read")
                       .Add({}, AgeBuckets());
  Family<Gauge>& autoscalers = AddGauge(registry, "flyball_scaler_autoscalers",
                                        "Autoscalers that this replica sees (known), decides "
                                        "(owned), and leaves alone until an input "
                                        "changes (steady)");
  Gauge& known = autoscalers.Add({{"state", "known"}});
  Gauge& owned = autoscalers.Add({{"state", "owned"}});
  Gauge& steady = autoscalers.Add({{"state", "steady"}});
  Gauge& pods = AddGauge(registry, "flyball_scaler_pods", "Pods that the scaler watches").Add({});
  Gauge& queue = AddGauge(registry, "flyball_scaler_queue_length",
                          "Autoscalers whose decision is due and has not begun")
                     .Add({});
  Family<Counter>& writes =
      AddCounter(registry, "flyball_scaler_writes_total",
                 "Scales and statuses that the scaler wrote to the API server");
  Follower scale_writes{writes.Add({{"what", "scale"}})};
  Follower status_writes{writes.Add({{"what", "status"}})};
  Follower conflicts{
      AddCounter(registry, "flyball_scaler_conflicts_total",
                 "Writes of the scaler that the API server refused because the object had changed")
          .Add({})};
  Follower api_calls{AddCounter(registry, "flyball_scaler_api_calls_total",
                                "Requests of the scaler to the API server")
                         .Add({})};
  Gauge& shards = AddGauge(registry, "flyball_scaler_shards_owned",
                           "Shards of namespaces whose Lease this replica holds")
                      .Add({});
  Family<Counter>& state_writes = AddCounter(registry, "flyball_scaler_state_writes_total",
                                             "Writes of recommendations and scale events to the "
                                             "ConfigMap from which another replica would go on");
  Follower state_success{state_writes.Add({{"result", "success"}})};
  Follower state_failure{state_writes.Add({{"result", "failure"}})};
  Gauge& log_bytes =
      AddGauge(registry, "flyball_scaler_log_bytes", "Bytes of the decisions kept for explanations")
          .Add({});
  Family<Counter>& comparisons = AddCounter(
      registry, "flyball_shadow_comparisons_total",
      "Statuses that the HPA controller wrote, compared with the decision of mode shadow");
  Follower shadow_equal{comparisons.Add({{"reason", ""}, {"result", "equal"}})};
  std::vector<Follower> different;  // by ShadowReason
  Gauge& advised = AddGauge(registry, "flyball_advised_autoscalers",
                            "Autoscalers whose count is published as a metric")
                       .Add({});
  Family<Counter>& reconciliations =
      AddCounter(registry, "horizontal_pod_autoscaler_controller_reconciliations_total",
                 "Number of reconciliations of HPA controller");
  Family<Histogram>& reconciliation_seconds =
      AddHistogram(registry, "horizontal_pod_autoscaler_controller_reconciliation_duration_seconds",
                   "The time(seconds) that the HPA controller takes to reconcile once");
  Family<Counter>& computations =
      AddCounter(registry, "horizontal_pod_autoscaler_controller_metric_computation_total",
                 "Number of metric computations");
  Family<Histogram>& computation_seconds = AddHistogram(
      registry, "horizontal_pod_autoscaler_controller_metric_computation_duration_seconds",
      "The time(seconds) that the HPA controller takes to calculate one metric");
  std::array<std::array<std::array<std::array<std::atomic<Counter*>, 4>, 6>, 3>, 2> by_labels = {};
  absl::Mutex refreshing;  // one scrape at a time
};

LoopMetrics::LoopMetrics(Registry& registry, Clock& clock)
    : clock_(clock), families_(std::make_unique<Families>(registry)) {}
LoopMetrics::~LoopMetrics() = default;

void LoopMetrics::OnDecision(const DecisionRecord& record) {
  const Decision& decision = *record.decision;
  families_
      ->Decisions(static_cast<size_t>(record.managed->key.kind), static_cast<size_t>(record.mode),
                  static_cast<size_t>(decision.outcome), ActionOf(record))
      .Increment();
  families_->duration.Observe(absl::ToDoubleSeconds(record.took));
  if (record.unchanged) families_->unchanged.Increment();
  if (record.newest_sample.has_value()) {
    families_->age.Observe(absl::ToDoubleSeconds(record.time - *record.newest_sample));
    if (record.scale_written) {
      families_->reaction.Observe(absl::ToDoubleSeconds(clock_.WallNow() - *record.newest_sample));
    }
  }
  if (record.mode != Mode::kAct || record.managed->key.kind != AutoscalerKind::kHpa) return;
  families_->Reconciled(decision.monitor, absl::ToDoubleSeconds(record.took), 1);
}

void LoopMetrics::OnRound(const RoundRecord& round) {
  Families& f = *families_;
  const double took = absl::ToDoubleSeconds(round.took);
  const auto act = static_cast<size_t>(Mode::kAct);
  const auto decided = static_cast<size_t>(Outcome::kDecided);
  for (const auto& [kind, count] : round.kinds) {
    const auto members = static_cast<double>(count);
    f.Decisions(static_cast<size_t>(kind->kind), act, decided, /*action=*/0).Increment(members);
    f.unchanged.Increment(members);
    ObserveMany(f.duration, DurationBuckets(), took, members);
    if (round.newest_sample.has_value()) {
      const absl::Duration age = round.time - *round.newest_sample;
      ObserveMany(f.age, AgeBuckets(), absl::ToDoubleSeconds(age), members);
    }
    if (kind->kind != AutoscalerKind::kHpa) continue;
    MonitorLabels monitor;  // nothing was done, nothing failed
    for (const std::string& type : kind->metric_types) monitor.metrics.push_back({.type = type});
    f.Reconciled(monitor, took, members);
  }
}

void LoopMetrics::Refresh(const LoopMetricSources& sources) {
  Families& f = *families_;
  absl::MutexLock lock(&f.refreshing);
  if (sources.scaler) {
    const Scaler::Stats stats = sources.scaler();
    f.known.Set(static_cast<double>(stats.autoscalers));
    f.owned.Set(static_cast<double>(stats.owned));
    f.steady.Set(static_cast<double>(stats.steady));
    f.pods.Set(static_cast<double>(stats.pods));
    f.queue.Set(static_cast<double>(stats.queue));
    f.scale_writes.Follow(stats.scale_writes);
    f.status_writes.Follow(stats.status_writes);
    f.conflicts.Follow(stats.conflicts);
    f.api_calls.Follow(stats.api_calls);
  }
  if (sources.shards_owned) f.shards.Set(static_cast<double>(sources.shards_owned()));
  if (sources.state != nullptr) {
    const StateStore::Stats stats = sources.state->stats();
    f.state_success.Follow(stats.written);
    f.state_failure.Follow(stats.failed);
  }
  if (sources.log != nullptr) f.log_bytes.Set(static_cast<double>(sources.log->stats().bytes));
  if (sources.advise != nullptr) f.advised.Set(static_cast<double>(sources.advise->size()));
  if (sources.shadow != nullptr) {
    const ShadowCounts counts = sources.shadow->counts();
    f.shadow_equal.Follow(counts.equal);
    for (size_t i = 0; i < kShadowReasons; ++i) f.different[i].Follow(counts.different[i]);
  }
}

}  // namespace flyball::scaler
