// links: scaler_math_hpa scaler_spec
//
// What a decision costs on one core, and what it allocates.
//
// Inputs (the same as in peers/replica_math, which measures the Go controller): the autoscaler
// prod/web, min 1, max 100000; pods web-00000, web-00001, …, running and ready for an hour, each
// with one container `app` that requests 1 CPU and 100Mi; samples 10 s old with a window of 30 s,
// pod i at 500 + (37 i mod 400) thousandths.
//   external        External AverageValue 10, one series of 10 for each of 4 replicas; no pods
//   resource/N      Resource cpu, Utilization 70, N pods and replicas
//   five_metrics/50 Resource cpu and memory (Utilization 70), Pods rps (AverageValue 700), Object
//                   requests of an Ingress (Value 1k, at 1k), External (AverageValue 10); 50 pods;
//                   both directions with Pods 4 / 15 s and Percent 100 / 15 s
// Each iteration is one whole reconcile 15 s after the one before, its state and status fed back;
// `resource` and `five_metrics` decide on new readings, `unchanged` on readings that did not
// change.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/hpa/hpa_decider.h"
#include "scaler/math/readings.h"

namespace {

std::atomic<int64_t> allocations{0};

}  // namespace

// Not inlined: GCC would then see a free() of what it takes for memory of the other operator new.
[[gnu::noinline]] void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace flyball::scaler {
namespace {

constexpr absl::Time kStart = absl::FromUnixSeconds(1767225600);
constexpr absl::Duration kPeriod = absl::Seconds(15);

kube::Quantity Q(absl::string_view text) { return *kube::Quantity::Parse(text); }

std::string PodName(int i) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "web-%05d", i);
  return buffer;
}

std::vector<Pod> MakePods(int count) {
  std::vector<Pod> pods(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    Pod& pod = pods[static_cast<size_t>(i)];
    pod.ns = "prod";
    pod.name = PodName(i);
    pod.labels = {{"app", "web"}};
    pod.phase = PodPhase::kRunning;
    pod.start_time = kStart - absl::Hours(1);
    pod.ready = ReadyCondition{.status = ConditionStatus::kTrue,
                               .last_transition_time = kStart - absl::Hours(1)};
    Container& container = pod.containers.emplace_back();
    container.name = "app";
    container.requests = {{"cpu", Q("1")}, {"memory", Q("100Mi")}};
  }
  return pods;
}

MetricSpec Metric(MetricType type) {
  MetricSpec metric;
  metric.type = type;
  metric.type_text = std::string(MetricTypeName(type));
  return metric;
}

MetricSpec Utilization(const char* resource, int32_t percent) {
  MetricSpec metric = Metric(MetricType::kResource);
  metric.resource = resource;
  metric.target.average_utilization = percent;
  return metric;
}

MetricSpec Average(MetricType type, const char* name, absl::string_view target) {
  MetricSpec metric = Metric(type);
  metric.metric = MakeMetricIdentifier(name, std::nullopt);
  metric.target.type = TargetType::kAverageValue;
  metric.target.average_value = MakeTargetAmount(Q(target));
  return metric;
}

MetricSpec ObjectValue(const char* name, absl::string_view target) {
  MetricSpec metric = Metric(MetricType::kObject);
  metric.metric = MakeMetricIdentifier(name, std::nullopt);
  metric.described_object = {"networking.k8s.io/v1", "Ingress", "main"};
  metric.target.type = TargetType::kValue;
  metric.target.value = MakeTargetAmount(Q(target));
  return metric;
}

ScalingRules Rules() {
  ScalingRules rules;
  rules.stabilization_window_seconds = 0;
  rules.policies = {{PolicyType::kPods, 4, 15}, {PolicyType::kPercent, 100, 15}};
  return rules;
}

// One autoscaler, its world, and what it remembers.
class Bench {
 public:
  Bench(int pods, int32_t replicas, std::vector<MetricSpec> metrics) : pods_(MakePods(pods)) {
    autoscaler_.ns = "prod";
    autoscaler_.name = "web";
    autoscaler_.scale_target = {"apps/v1", "Deployment", "web"};
    autoscaler_.min_replicas = 1;
    autoscaler_.max_replicas = 100000;
    autoscaler_.metrics = std::move(metrics);
    scale_.spec_replicas = scale_.status_replicas = replicas;
    scale_.selector = "app=web";
    std::vector<const Pod*> views;
    for (const Pod& pod : pods_) views.push_back(&pod);
    table_ = PodTable(views, autoscaler_.metrics, {});
    answer_.table = &table_;
    answer_.rivals = MakeRivals({"prod/web"});
    readings_.resize(autoscaler_.metrics.size());
    for (size_t i = 0; i < readings_.size(); ++i) Fill(autoscaler_.metrics[i], readings_[i]);
  }

  void SetBehavior() { autoscaler_.behavior = Behavior{Rules(), Rules()}; }

  void MarkUnchanged() {
    spec_version_ = answer_.version = 1;
    for (Reading& reading : readings_) reading.version = 1;
  }

  void Step() {
    now_ += kPeriod;
    DecisionInput input;
    input.autoscaler = &autoscaler_;
    input.status = &stored_;
    input.scale = &scale_;
    input.pods = &answer_;
    input.readings = readings_;
    input.config = &config_;
    input.state = &state_;
    input.now = now_;
    input.spec_version = spec_version_;
    HpaDecider().Decide(input, {}, workspace_, decision_);
    if (decision_.rescale) RecordScaleWrite(input, "", decision_);
    RecordStatusWrite(input, "", decision_);
    if (decision_.status_changed) stored_ = decision_.status;
    std::swap(state_, decision_.state);
    benchmark::DoNotOptimize(decision_.desired);
  }

  size_t size() const { return pods_.size(); }
  const PodTable& table() const { return table_; }
  const Decision& decision() const { return decision_; }

 private:
  void Fill(const MetricSpec& metric, Reading& reading) const {
    reading.timestamp = kStart - absl::Seconds(10);
    if (metric.type == MetricType::kExternal) {
      reading.amounts_milli = {int64_t{scale_.spec_replicas} * 10000};
      return;
    }
    if (metric.type == MetricType::kObject) {
      reading.amounts_milli = {1000000};
      return;
    }
    for (size_t i = 0; i < pods_.size(); ++i) {
      reading.samples.push_back({.row = static_cast<int32_t>(i),
                                 .value_milli = 500 + static_cast<int64_t>(i * 37 % 400),
                                 .timestamp = kStart - absl::Seconds(10),
                                 .window = absl::Seconds(30)});
    }
  }

  std::vector<Pod> pods_;
  Autoscaler autoscaler_;
  ScaleAnswer scale_;
  PodTable table_;
  PodsAnswer answer_;
  std::vector<Reading> readings_;
  MathConfig config_;
  ScalerState state_;
  AutoscalerStatus stored_;
  absl::Time now_ = kStart;
  uint64_t spec_version_ = 0;
  Workspace workspace_;
  Decision decision_;
};

void Run(benchmark::State& state, Bench& bench) {
  for (int i = 0; i < 100; ++i) bench.Step();  // windows fill, buffers grow
  const int64_t before = allocations.load();
  for (auto _ : state) bench.Step();
  const auto count = static_cast<double>(allocations.load() - before);
  state.counters["allocs"] = count / static_cast<double>(state.iterations());
  state.counters["decisions/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  if (bench.size() > 0) {
    state.counters["per_pod"] = benchmark::Counter(
        static_cast<double>(state.iterations()) * static_cast<double>(bench.size()),
        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  }
  if (bench.decision().outcome != Outcome::kDecided) state.SkipWithError("did not decide");
}

std::vector<MetricSpec> FiveMetrics() {
  return {Utilization("cpu", 70), Utilization("memory", 70),
          Average(MetricType::kPods, "rps", "700"), ObjectValue("requests", "1k"),
          Average(MetricType::kExternal, "queue_depth", "10")};
}

void External(benchmark::State& state) {
  Bench bench(0, 4, {Average(MetricType::kExternal, "queue_depth", "10")});
  Run(state, bench);
}

void Resource(benchmark::State& state) {
  const auto pods = static_cast<int>(state.range(0));
  Bench bench(pods, pods, {Utilization("cpu", 70)});
  Run(state, bench);
}

void FiveMetricsAndBehavior(benchmark::State& state) {
  const auto pods = static_cast<int>(state.range(0));
  Bench bench(pods, pods, FiveMetrics());
  bench.SetBehavior();
  Run(state, bench);
}

void UnchangedResource(benchmark::State& state) {
  const auto pods = static_cast<int>(state.range(0));
  Bench bench(pods, pods, {Utilization("cpu", 70)});
  bench.MarkUnchanged();
  Run(state, bench);
}

void UnchangedFiveMetrics(benchmark::State& state) {
  const auto pods = static_cast<int>(state.range(0));
  Bench bench(pods, pods, FiveMetrics());
  bench.SetBehavior();
  bench.MarkUnchanged();
  Run(state, bench);
}

// What comes before a decision when the answer of the metrics API is new: names find their rows.
void ReadAnswer(benchmark::State& state) {
  const auto pods = static_cast<int>(state.range(0));
  Bench bench(pods, pods, {Utilization("cpu", 70)});
  MetricsAnswer<PodMetrics> answer;
  for (int i = 0; i < pods; ++i) {
    PodMetrics& item = answer.items.emplace_back();
    item.name = PodName(i);
    item.timestamp = kStart;
    item.containers.push_back(
        {.name = "app", .usage = {{"cpu", Q("500m")}, {"memory", Q("50Mi")}}});
  }
  Reading reading;
  for (auto _ : state) {
    ReadResource(answer, "cpu", "", bench.table(), reading);
    benchmark::DoNotOptimize(reading.samples.data());
  }
  state.counters["per_pod"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(pods),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(External)->Name("external");
BENCHMARK(Resource)->Name("resource")->Arg(10)->Arg(100)->Arg(1000);
BENCHMARK(FiveMetricsAndBehavior)->Name("five_metrics")->Arg(50);
BENCHMARK(UnchangedResource)->Name("unchanged/resource")->Arg(10)->Arg(1000);
BENCHMARK(UnchangedFiveMetrics)->Name("unchanged/five_metrics")->Arg(50);
BENCHMARK(ReadAnswer)->Name("read_answer")->Arg(1000);

}  // namespace
}  // namespace flyball::scaler

BENCHMARK_MAIN();
