// links: adapter
//
// One request through the providers with everything in memory: what an answer costs beyond HTTP,
// TLS and Prometheus.
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "adapter/adapter.h"
#include "adapter/testing/fakes.h"
#include "benchmark/benchmark.h"

namespace flyball::adapter {
namespace {

constexpr char kRules[] = R"(
rules:
- {seriesQuery: m, resources: {overrides: {ns: {resource: namespace}, po: {resource: pod}}},
   metricsQuery: 'sum by (<<.GroupBy>>) (rate(<<.Series>>{<<.LabelMatchers>>}[1m]))'}
externalRules:
- {seriesQuery: m, resources: {namespaced: false}, metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})'}
)";
constexpr int kPods = 50;

// An adapter over 50 pods, ready to answer.
struct World {
  explicit World(absl::Duration freshness) {
    std::vector<Sample> samples;
    for (int i = 0; i < kPods; ++i) {
      const std::string pod = absl::StrCat("shop-", i);
      directory.Add("pods", "web", pod, {{"app", "shop"}});
      samples.push_back({.labels = {{"po", pod}}, .time = absl::UnixEpoch(), .value = 1.5});
    }
    source.OnSeries([](const std::string&) {
      return std::vector<SeriesName>{{"m", {"ns", "po"}}};
    });
    source.OnQuery([answer = VectorOf(std::move(samples))](const std::string&) { return answer; });
    const rules::CompileResult rules = rules::CompileRules(kRules, "bench.yaml");
    if (rules.rules == nullptr) std::abort();
    AdapterOptions options;
    options.queries.flights.freshness = freshness;
    adapter = std::make_unique<Adapter>(
        Adapter::Deps{.source = source, .directory = directory, .clock = Clock::System()}, options,
        rules.rules);
    adapter->Start();
    while (!adapter->ready()) std::this_thread::yield();
  }

  FakeSource source;
  FakeDirectory directory;
  std::unique_ptr<Adapter> adapter;
};

CustomMetricRequest Request(const std::string& name) {
  CustomMetricRequest request;
  request.resource = "pods";
  request.ns = "web";
  request.name = name;
  request.metric = "m";
  return request;
}

absl::Duration Freshness(const benchmark::State& state) { return absl::Seconds(state.range(0)); }

void BM_AllPods(benchmark::State& state) {
  World world(Freshness(state));
  const auto provider = world.adapter->providers().custom;
  const CustomMetricRequest request = Request("*");
  for (auto _ : state) {
    if (provider->Get(request)->items.size() != kPods) std::abort();
  }
}
BENCHMARK(BM_AllPods)->Arg(0)->Arg(3600);

void BM_OnePod(benchmark::State& state) {
  World world(Freshness(state));
  const auto provider = world.adapter->providers().custom;
  const CustomMetricRequest request = Request("shop-7");
  for (auto _ : state) {
    if (provider->Get(request)->items.size() != 1) std::abort();
  }
}
BENCHMARK(BM_OnePod)->Arg(0)->Arg(3600);

void BM_External(benchmark::State& state) {
  World world(Freshness(state));
  const auto provider = world.adapter->providers().external;
  ExternalMetricRequest request;
  request.ns = "web";
  request.metric = "m";
  for (auto _ : state) {
    if (provider->Get(request)->items.size() != kPods) std::abort();
  }
}
BENCHMARK(BM_External)->Arg(0)->Arg(3600);

}  // namespace
}  // namespace flyball::adapter

BENCHMARK_MAIN();
