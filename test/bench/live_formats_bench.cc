// links: formats
//
// How many samples a second one thread reads of each format.
#include <benchmark/benchmark.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "adapter/live/formats/remote_write.h"
#include "adapter/live/formats/testing/write_request.h"
#include "adapter/live/formats/text.h"

namespace flyball::formats {
namespace {

constexpr int kSeries = 2000;

TextLabels LabelsOf(int i) {
  return {{"__name__", "http_requests_total"},
          {"code", "200"},
          {"handler", absl::StrCat("/api/v1/things/", i % 17)},
          {"instance", absl::StrCat("10.0.", i % 250, ".", i / 250, ":8080")},
          {"job", "web"},
          {"pod", absl::StrCat("web-7c5ddbdf54-", 10'000 + i)}};
}

std::string WriteRequest() {
  Message request;
  for (int i = 0; i < kSeries; ++i) {
    request.Add(1, SeriesMessage(LabelsOf(i), {{1'700'000'000'000 + i, 17.25 * i}}));
  }
  return request.bytes();
}

std::string Page() {
  std::string page = "# TYPE http_requests_total counter\n";
  for (int i = 0; i < kSeries; ++i) {
    absl::StrAppend(&page, "http_requests_total{");
    for (const auto& [name, value] : LabelsOf(i)) {
      if (name != "__name__") absl::StrAppend(&page, name, "=\"", value, "\",");
    }
    page.back() = '}';
    absl::StrAppend(&page, " ", 17.25 * i, "\n");
  }
  return page;
}

class Counting : public ScrapeSink {
 public:
  void OnSample(const ScrapedSample& sample) override { sum += sample.value; }
  void OnMetadata(const FamilyMetadata&) override {}
  double sum = 0;
};

void Done(benchmark::State& state) { state.SetItemsProcessed(state.iterations() * kSeries); }

void BM_RemoteWrite(benchmark::State& state) {
  const std::string request = WriteRequest();
  std::vector<LabelView> labels;
  double sum = 0;
  for (auto _ : state) {
    (void)ReadWriteRequest(
        WriteVersion::k1, request,
        [&](const WrittenSeries& series) {
          sum += series.samples.front().value;
          if (state.range(0) == 0) return;
          (void)ReadKey(series.key, labels);
          (void)NormalizeLabels(labels);
        },
        [](const FamilyMetadata&) {});
  }
  benchmark::DoNotOptimize(sum);
  Done(state);
}
BENCHMARK(BM_RemoteWrite)->ArgName("labels")->Arg(0)->Arg(1);

void BM_Text(benchmark::State& state) {
  const std::string page = Page();
  Counting sink;
  for (auto _ : state) (void)ParseText(page, sink);
  benchmark::DoNotOptimize(sink.sum);
  Done(state);
}
BENCHMARK(BM_Text);

void BM_OpenMetrics(benchmark::State& state) {
  const std::string page = absl::StrCat(Page(), "# EOF\n");
  Counting sink;
  for (auto _ : state) (void)ParseOpenMetrics(page, sink);
  benchmark::DoNotOptimize(sink.sum);
  Done(state);
}
BENCHMARK(BM_OpenMetrics);

}  // namespace
}  // namespace flyball::formats

BENCHMARK_MAIN();
