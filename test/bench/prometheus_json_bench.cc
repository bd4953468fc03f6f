// links: adapter
//
// Decoding of Prometheus answers: a query for 50 pods, one of 10,000 samples, and the series of a
// large cluster.
#include <string>

#include "absl/strings/str_cat.h"
#include "adapter/prometheus/json.h"
#include "benchmark/benchmark.h"

namespace flyball::adapter::prometheus {
namespace {

std::string QueryAnswer(int samples) {
  std::string body = R"({"status":"success","data":{"resultType":"vector","result":[)";
  for (int i = 0; i < samples; ++i) {
    absl::StrAppend(&body, i == 0 ? "" : ",", R"({"metric":{"namespace":"web","pod":"shop-7d9f-)",
                    i, R"("},"value":[1700000000.123,")", i, R"(.25"]})");
  }
  return absl::StrCat(body, "]}}");
}

// Each series has ten labels, as cAdvisor's do: about 300 bytes.
std::string SeriesAnswer(int series, int names) {
  std::string body = R"({"status":"success","data":[)";
  for (int i = 0; i < series; ++i) {
    absl::StrAppend(
        &body, i == 0 ? "" : ",", R"({"__name__":"container_metric_)", i % names,
        R"(","container":"main","endpoint":"https-metrics","id":"/kubepods/burstable/pod)", i,
        R"(","image":"registry.example/shop:1.2.3","instance":"10.0.0.7:10250",)",
        R"("job":"kubelet","namespace":"web","node":"node-7","pod":"shop-7d9f-)", i,
        R"(","service":"kubelet"})");
  }
  return absl::StrCat(body, "]}");
}

void BM_QueryAnswer(benchmark::State& state) {
  const std::string body = QueryAnswer(static_cast<int>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(ParseQueryAnswer(body));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(BM_QueryAnswer)->Arg(1)->Arg(50)->Arg(10000);

void BM_SeriesAnswer(benchmark::State& state) {
  const std::string body =
      SeriesAnswer(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  for (auto _ : state) benchmark::DoNotOptimize(ParseSeriesAnswer(body));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
// 100,000 series of 100 names, and all of different names.
BENCHMARK(BM_SeriesAnswer)
    ->Args({100000, 100})
    ->Args({100000, 100000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flyball::adapter::prometheus

BENCHMARK_MAIN();
