// Tests only: one autoscaler with its pods, metrics and past, written in a line or two.
//
// Defaults are those of the worked examples: min 1, max 100000, status.replicas = spec.replicas;
// every pod runs, is ready for an hour and requests 1 CPU and 100Mi; samples are 10 s old with a
// window of 30 s; nothing is remembered; no behavior.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "scaler/math/hpa/hpa_decider.h"

namespace flyball::scaler {

inline constexpr absl::Time kTestNow = absl::FromUnixSeconds(1767225600);

inline int64_t Milli(absl::string_view text) { return kube::Quantity::Parse(text)->MilliValue(); }
inline kube::Quantity Amount(absl::string_view text) { return *kube::Quantity::Parse(text); }

struct TestPod {
  std::optional<int64_t> sample = {};  // thousandths; absent: missing
  PodPhase phase = PodPhase::kRunning;
  bool deleting = false;
  std::optional<int> age_seconds = 3600;  // absent: no start time
  ConditionStatus ready = ConditionStatus::kTrue;
  std::optional<int> ready_since_seconds = 3600;  // absent: no Ready condition
  int sample_age_seconds = 10;
  std::optional<std::string> cpu = "1";
};

class TestWorld {
 public:
  TestWorld() {
    autoscaler.ns = "prod";
    autoscaler.name = "web";
    autoscaler.scale_target = {"apps/v1", "Deployment", "web"};
    autoscaler.max_replicas = 100000;
    scale.selector = "app=web";
  }

  TestWorld& Replicas(int32_t spec) { return Replicas(spec, spec); }
  TestWorld& Replicas(int32_t spec, int32_t status) {
    scale.spec_replicas = spec;
    scale.status_replicas = status;
    return *this;
  }
  TestWorld& Bounds(int32_t min, int32_t max) {
    autoscaler.min_replicas = min;
    autoscaler.max_replicas = max;
    return *this;
  }
  TestWorld& Pods(int count, int64_t sample) {
    for (int i = 0; i < count; ++i) pods.push_back({.sample = sample});
    return *this;
  }
  TestWorld& With(TestPod pod) {
    pods.push_back(std::move(pod));
    return *this;
  }
  TestWorld& Stranger(int64_t sample) {
    strangers.push_back(sample);
    return *this;
  }

  TestWorld& Utilization(const char* resource, int32_t percent) {
    MetricSpec& metric = Metric(MetricType::kResource);
    metric.resource = resource;
    metric.target.average_utilization = percent;
    return *this;
  }
  TestWorld& ResourceAverage(const char* resource, absl::string_view target) {
    MetricSpec& metric = Metric(MetricType::kResource);
    metric.resource = resource;
    metric.target.average_value = MakeTargetAmount(Amount(target));
    return *this;
  }
  TestWorld& PodsMetric(absl::string_view target) {
    Metric(MetricType::kPods).target.average_value = MakeTargetAmount(Amount(target));
    return *this;
  }
  TestWorld& Total(MetricType type, TargetType target_type, absl::string_view target,
                   std::vector<std::string> amounts) {
    MetricSpec& metric = Metric(type);
    metric.described_object = {"v1", "Service", "front"};
    metric.target.type = target_type;
    (target_type == TargetType::kValue ? metric.target.value : metric.target.average_value) =
        MakeTargetAmount(Amount(target));
    for (const std::string& amount : amounts) {
      readings.back().amounts_milli.push_back(Milli(amount));
    }
    return *this;
  }
  TestWorld& ExternalAverage(absl::string_view target, std::vector<std::string> amounts) {
    return Total(MetricType::kExternal, TargetType::kAverageValue, target, std::move(amounts));
  }
  TestWorld& ExternalValue(absl::string_view target, std::vector<std::string> amounts) {
    return Total(MetricType::kExternal, TargetType::kValue, target, std::move(amounts));
  }
  TestWorld& ObjectAverage(absl::string_view target, std::string amount) {
    return Total(MetricType::kObject, TargetType::kAverageValue, target, {std::move(amount)});
  }
  TestWorld& ObjectValue(absl::string_view target, std::string amount) {
    return Total(MetricType::kObject, TargetType::kValue, target, {std::move(amount)});
  }
  // An external metric that asks for this count: AverageValue 10 at 10 for each.
  TestWorld& Wants(int32_t replicas) {
    return ExternalAverage("10", {absl::StrCat(10 * replicas)});
  }
  TestWorld& FailingMetric() {
    Metric(MetricType::kExternal).target.average_value = MakeTargetAmount(Amount("10"));
    readings.back().error = "down";
    return *this;
  }

  TestWorld& Past(int32_t replicas, int age_seconds) {
    state.recommendations.push_back({replicas, kTestNow - absl::Seconds(age_seconds)});
    return *this;
  }
  TestWorld& Added(int32_t change, int age_seconds) {
    state.scale_ups.push_back({change, kTestNow - absl::Seconds(age_seconds), false});
    return *this;
  }
  TestWorld& Removed(int32_t change, int age_seconds) {
    state.scale_downs.push_back({change, kTestNow - absl::Seconds(age_seconds), false});
    return *this;
  }

  // The rules of one direction; the other keeps the API's defaults.
  TestWorld& Up(std::vector<ScalingPolicy> policies, SelectPolicy select = SelectPolicy::kMax,
                int window = 0) {
    ScalingRules& rules = EnsureBehavior().scale_up;
    rules.policies = std::move(policies);
    rules.select_policy = select;
    rules.stabilization_window_seconds = window;
    return *this;
  }
  TestWorld& Down(std::vector<ScalingPolicy> policies, SelectPolicy select = SelectPolicy::kMax,
                  std::optional<int> window = 0) {
    ScalingRules& rules = EnsureBehavior().scale_down;
    rules.policies = std::move(policies);
    rules.select_policy = select;
    rules.stabilization_window_seconds = window;
    return *this;
  }
  TestWorld& Windows(int up, std::optional<int> down) {
    EnsureBehavior().scale_up.stabilization_window_seconds = up;
    autoscaler.behavior->scale_down.stabilization_window_seconds = down;
    return *this;
  }
  TestWorld& Tolerances(const char* up, const char* down) {
    config.configurable_tolerance = true;
    if (up != nullptr) EnsureBehavior().scale_up.tolerance = MakeRuleTolerance(Amount(up));
    if (down != nullptr) EnsureBehavior().scale_down.tolerance = MakeRuleTolerance(Amount(down));
    return *this;
  }
  Behavior& EnsureBehavior() {
    if (!autoscaler.behavior.has_value()) {
      autoscaler.behavior.emplace();
      autoscaler.behavior->scale_up.stabilization_window_seconds = 0;
      autoscaler.behavior->scale_up.policies = {{PolicyType::kPods, 4, 15},
                                                {PolicyType::kPercent, 100, 15}};
      autoscaler.behavior->scale_down.policies = {{PolicyType::kPercent, 100, 15}};
    }
    return *autoscaler.behavior;
  }

  // One whole reconcile; a rescale is written unless `write_error` says why not.
  Decision Decide(absl::string_view write_error = "") const {
    Workspace workspace;
    Decision decision;
    DecideInto(kTestNow, workspace, decision, write_error);
    return decision;
  }

  // The same at another time and in buffers that were used before.
  void DecideInto(absl::Time now, Workspace& workspace, Decision& decision,
                  absl::string_view write_error = "") const {
    const std::vector<Pod> typed = TypedPods();
    std::vector<const Pod*> views;
    for (const Pod& pod : typed) views.push_back(&pod);
    const PodTable table(views, autoscaler.metrics, {});
    PodsAnswer answer;
    answer.table = &table;
    Rivals named = {.names = rivals, .total = rivals.size()};
    named.names.resize(std::min(named.total, Rivals::kMaxNames));
    answer.rivals = std::make_shared<const Rivals>(std::move(named));
    std::vector<Reading> filled = readings;
    for (size_t i = 0; i < filled.size(); ++i) FillSamples(autoscaler.metrics[i], filled[i]);
    DecisionInput input;
    input.autoscaler = &autoscaler;
    input.scale = &scale;
    input.pods = &answer;
    input.readings = filled;
    input.config = &config;
    input.state = &state;
    input.now = now;
    if (keep_versions) {
      input.spec_version = answer.version = 1;
      for (Reading& reading : filled) reading.version = 1;
    }
    HpaDecider().Decide(input, {.pod_detail = true}, workspace, decision);
    if (decision.rescale) RecordScaleWrite(input, write_error, decision);
    RecordStatusWrite(input, "", decision);
  }

  Autoscaler autoscaler;
  ScaleAnswer scale;
  MathConfig config;
  ScalerState state;
  std::vector<TestPod> pods;
  std::vector<int64_t> strangers;
  std::vector<Reading> readings;  // by metric; pod samples are filled in by Decide
  std::vector<std::string> rivals = {"prod/web"};
  bool keep_versions = false;  // pods, spec and readings say that they did not change

 private:
  MetricSpec& Metric(MetricType type) {
    readings.emplace_back().timestamp = kTestNow - absl::Seconds(10);
    MetricSpec& metric = autoscaler.metrics.emplace_back();
    metric.type = type;
    metric.type_text = std::string(MetricTypeName(type));
    metric.metric = MakeMetricIdentifier("m", std::nullopt);
    return metric;
  }

  std::vector<Pod> TypedPods() const {
    std::vector<Pod> out;
    for (size_t i = 0; i < pods.size(); ++i) {
      const TestPod& from = pods[i];
      Pod& pod = out.emplace_back();
      pod.ns = "prod";
      pod.name = absl::StrCat("p", i);
      pod.phase = from.phase;
      pod.deleting = from.deleting;
      if (from.age_seconds.has_value()) {
        pod.start_time = kTestNow - absl::Seconds(*from.age_seconds);
      }
      if (from.ready_since_seconds.has_value()) {
        pod.ready = {from.ready, kTestNow - absl::Seconds(*from.ready_since_seconds)};
      }
      Container& container = pod.containers.emplace_back();
      container.name = "app";
      container.requests = {{"memory", Amount("100Mi")}};
      if (from.cpu.has_value()) container.requests.emplace_back("cpu", Amount(*from.cpu));
    }
    return out;
  }

  void FillSamples(const MetricSpec& metric, Reading& reading) const {
    if (metric.type == MetricType::kObject || metric.type == MetricType::kExternal) return;
    const auto add = [&](int32_t row, int64_t value, int age) {
      reading.samples.push_back({row, value, kTestNow - absl::Seconds(age), absl::Seconds(30)});
    };
    for (size_t i = 0; i < pods.size(); ++i) {
      if (!pods[i].sample.has_value()) continue;
      add(static_cast<int32_t>(i), *pods[i].sample, pods[i].sample_age_seconds);
    }
    for (const int64_t value : strangers) add(kStranger, value, 10);
    if (reading.samples.empty()) reading.error = "no metrics returned from resource metrics API";
  }
};

}  // namespace flyball::scaler
