// links: promql
//
// What the engine alone takes for a query over series in memory, parsed beforehand: 10,000 counters
// of 1,000 pods, a sample each second.
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "promql/engine/engine.h"
#include "promql/engine/memory_series.h"
#include "promql/parser.h"

namespace flyball::promql {
namespace {

constexpr int kSeries = 10'000;
constexpr int kSamples = 300;
constexpr int64_t kStartMs = 1'700'000'000'000;
constexpr int64_t kNowMs = kStartMs + (kSamples - 1) * 1000;

const MemorySeriesReader& Samples() {
  static const auto& samples = *[] {
    std::vector<std::shared_ptr<const Series>> all;
    for (int i = 0; i < kSeries; ++i) {
      const Labels labels(LabelSet{{"__name__", "x"},
                                   {"container", absl::StrCat("c", i % 10)},
                                   {"instance", absl::StrCat("10.0.0.", i % 250, ":9100")},
                                   {"job", "kubernetes-pods"},
                                   {"namespace", absl::StrCat("namespace-", i / 10 % 20)},
                                   {"pod", absl::StrCat("web-7f9c6d5b8-", i / 10)}});
      std::vector<Point> points;
      for (int at = 0; at < kSamples; ++at) {
        points.push_back({kStartMs + at * 1000, static_cast<double>(at * (i % 7 + 1))});
      }
      all.push_back(std::make_shared<MemorySeries>(labels, std::move(points)));
    }
    return new MemorySeriesReader(std::move(all));
  }();
  return samples;
}

void Run(benchmark::State& state, const char* query, int64_t steps) {
  const auto expr = Parse(query);
  const MemorySeriesReader& samples = Samples();
  for (auto _ : state) {
    bool ok = false;
    if (steps == 1) {
      const auto value = EvalInstant(**expr, samples, kNowMs);
      ok = value.ok();
      benchmark::DoNotOptimize(value);
    } else {
      const auto value = EvalRange(**expr, samples, {kNowMs - (steps - 1) * 1000, kNowMs, 1000});
      ok = value.ok();
      benchmark::DoNotOptimize(value);
    }
    if (!ok) std::abort();
  }
  state.counters["ns_per_series_and_step"] = benchmark::Counter(
      static_cast<double>(kSeries * steps) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK_CAPTURE(Run, sum_by_pod_of_rates, "sum by (pod) (rate(x[1m]))", 1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Run, sum_by_pod_of_rates_60_steps, "sum by (pod) (rate(x[1m]))", 60)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Run, plain_selector, "x", 1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flyball::promql

BENCHMARK_MAIN();
