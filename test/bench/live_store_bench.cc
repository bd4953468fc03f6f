// links: live_store
//
// The live store: bytes that a sample takes by the kind of its series, what a sample costs on its
// way in, what a selector costs, and what the process holds with 100,000 series of ten minutes at
// one second.
#include <benchmark/benchmark.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "adapter/live/store/store.h"
#include "adapter/live/store/testing/make_labels.h"
#include "test/bench/series_kinds.h"

namespace {

using namespace flyball::live;  // NOLINT: one program

constexpr int64_t kStart = 1'700'000'000'000;
constexpr int kSeries = 100'000;
constexpr int kSamples = 600;

using flyball::bench::Kind;
using flyball::bench::KindOf;
using flyball::bench::kKinds;
using flyball::bench::Random;

flyball::promql::Labels LabelsOf(int series) {
  const int pod = series / 100;
  return Named(absl::StrCat("app_metric_", series % 100, "_total"),
               {{"container", "server"},
                {"instance", absl::StrCat("10.1.", pod / 250, ".", pod % 250, ":8080")},
                {"job", "kubernetes-pods"},
                {"namespace", absl::StrCat("team-", pod % 20)},
                {"pod", absl::StrCat("checkout-7d4b9c6f5d-", pod)},
                {"code", absl::StrCat(200 + series % 5)}});
}

double RssMegabytes() {
  std::ifstream in("/proc/self/statm");
  size_t pages = 0, resident = 0;
  in >> pages >> resident;
  return static_cast<double>(resident) * 4096 / 1e6;
}

// A sample costs this without the store: handles and values in their order.
struct Feed {
  std::vector<SeriesHandle> handles;
  std::vector<double> values;
  Random random{1};

  explicit Feed(Store& store, int series_count) {
    for (int i = 0; i < series_count; ++i) {
      handles.push_back(*store.Open(LabelsOf(i)));
      values.push_back(static_cast<double>(i % 1000) * 4096);
    }
  }
  void Move() {
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = KindOf(static_cast<int>(i)).next(values[i], random);
    }
  }
};

void BytesOfASample(benchmark::State& state) {
  const Kind& kind = kKinds[state.range(0)];
  state.SetLabel(kind.name);
  double bytes = 0;
  for (auto _ : state) {
    Random random(7);
    bytes = 0;
    for (int series = 0; series < 100; ++series) {
      SeriesSamples samples;
      double value = 1e6;
      for (int i = 0; i < kSamples; ++i) {
        value = kind.next(value, random);
        samples.Add({kStart + i * 1000, value}, 0, 600'000);
      }
      std::vector<uint8_t> chunks;
      samples.AppendChunksTo(chunks);
      bytes += static_cast<double>(chunks.size());
    }
  }
  state.counters["bytes/sample"] = bytes / 100 / kSamples;
  state.SetItemsProcessed(state.iterations() * 100 * kSamples);
}
BENCHMARK(BytesOfASample)->DenseRange(0, std::size(kKinds) - 1)->Unit(benchmark::kMillisecond);

void AppendAll(Store& store, Feed& feed, int64_t now_ms) {
  for (size_t i = 0; i < feed.handles.size(); ++i) {
    (void)store.Append(feed.handles[i], {now_ms, feed.values[i]}, now_ms);
  }
}

void FillTenMinutes(benchmark::State& state) {
  const double before = RssMegabytes();
  for (auto _ : state) {
    Store store;
    Feed feed(store, kSeries);
    const double with_series = RssMegabytes();
    for (int i = 0; i < kSamples; ++i) {
      state.PauseTiming();
      feed.Move();
      state.ResumeTiming();
      AppendAll(store, feed, kStart + i * 1000);
    }
    state.counters["RSS of series, MB"] = with_series - before;
    state.counters["RSS, MB"] = RssMegabytes();
    state.counters["counted, MB"] = static_cast<double>(store.counts().bytes) / 1e6;
    // Chunks go and others come.
    for (int i = kSamples; i < kSamples + 140; ++i) {
      state.PauseTiming();
      feed.Move();
      AppendAll(store, feed, kStart + i * 1000);
      state.ResumeTiming();
    }
    state.counters["RSS later, MB"] = RssMegabytes();
  }
  state.SetItemsProcessed(state.iterations() * kSeries * kSamples);
}
BENCHMARK(FillTenMinutes)->Iterations(1)->Unit(benchmark::kSecond);

// One store of 100,000 series with half a minute of samples.
Store& Filled() {
  static Store& store = []() -> Store& {
    auto& made = *new Store();
    Feed feed(made, kSeries);
    for (int i = 0; i < 30; ++i) {
      feed.Move();
      AppendAll(made, feed, kStart + i * 1000);
    }
    return made;
  }();
  return store;
}

void AppendFromThreads(benchmark::State& state) {
  static Feed* feed = nullptr;
  if (state.thread_index() == 0 && feed == nullptr) feed = new Feed(Filled(), kSeries);
  static std::atomic<int64_t> time_ms = kStart + 60'000;
  const size_t part = kSeries / static_cast<size_t>(state.threads());
  const size_t begin = part * static_cast<size_t>(state.thread_index());
  for (auto _ : state) {
    const int64_t now_ms = time_ms.fetch_add(1);
    for (size_t i = begin; i < begin + part; ++i) {
      (void)Filled().Append(feed->handles[i], {now_ms, 1.0 * static_cast<double>(now_ms)}, now_ms);
    }
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(part));
}
BENCHMARK(AppendFromThreads)->Threads(1)->Threads(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void OpenKnown(benchmark::State& state) {
  Store& store = Filled();
  std::vector<flyball::promql::Labels> labels;
  for (int i = 0; i < kSeries; ++i) labels.push_back(LabelsOf(i));
  for (auto _ : state) {
    for (const auto& one : labels) benchmark::DoNotOptimize(store.Open(one).ok());
  }
  state.SetItemsProcessed(state.iterations() * kSeries);
}
BENCHMARK(OpenKnown)->Unit(benchmark::kMillisecond);

void SelectBy(benchmark::State& state, const Selector& selector) {
  size_t found = 0;
  for (auto _ : state) found = Filled().Select(selector).size();
  state.counters["found"] = static_cast<double>(found);
}

std::string Pods(int count) {
  std::string pattern;
  for (int i = 0; i < count; ++i) {
    absl::StrAppend(&pattern, i > 0 ? "|" : "", "checkout-7d4b9c6f5d-", i);
  }
  return pattern;
}

const flyball::promql::Matcher kName = Is("__name__", Op::kEqual, "app_metric_7_total");
BENCHMARK_CAPTURE(SelectBy, name, Selector{kName});
BENCHMARK_CAPTURE(SelectBy, name_and_pod,
                  Selector{kName, Is("pod", Op::kEqual, "checkout-7d4b9c6f5d-55")});
BENCHMARK_CAPTURE(SelectBy, name_and_namespace,
                  Selector{kName, Is("namespace", Op::kEqual, "team-3")});
BENCHMARK_CAPTURE(SelectBy, name_and_50_pods, Selector{kName, Is("pod", Op::kRegex, Pods(50))});
BENCHMARK_CAPTURE(SelectBy, name_and_prefix, Selector{kName, Is("pod", Op::kRegex, "checkout.*1")});
BENCHMARK_CAPTURE(SelectBy, code, Selector{Is("code", Op::kEqual, "203")});

void ReadAMinute(benchmark::State& state) {
  SeriesSamples samples;
  Random random(3);
  double value = 1;
  for (int i = 0; i < kSamples; ++i) {
    value = kKinds[1].next(value, random);
    samples.Add({kStart + i * 1000, value}, 0, 600'000);
  }
  const int64_t end_ms = kStart + (kSamples - 1) * 1000;
  std::vector<Point> points;
  for (auto _ : state) {
    points.clear();
    samples.Read(end_ms - state.range(0) * 1000, end_ms, points);
    benchmark::DoNotOptimize(points.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(points.size()));
}
BENCHMARK(ReadAMinute)->Arg(60)->Arg(600);

}  // namespace

int main(int argc, char** argv) {
  // As the program does at its start; what looks for deadlocks costs ten times what the store does.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
