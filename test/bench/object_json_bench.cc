// links: kube_watch
//
// What following a resource costs: a page of 500 pods of 3 KB, one watch event, and the metadata
// and the scale of one object.
#include <string>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "kube/client/scale.h"
#include "kube/objects/object_json.h"

namespace flyball::kube {
namespace {

// About 3 KB, as a pod of one container with probes, environment and conditions is.
std::string Pod(int i) {
  std::string environment;
  for (int j = 0; j < 24; ++j) {
    absl::StrAppend(&environment, j == 0 ? "" : ",", R"({"name":"SETTING_)", j,
                    R"(","value":"https://service-)", j, R"(.example.svc:8443/path?a=b"})");
  }
  return absl::StrCat(
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"shop-7d9f-)", i,
      R"(","namespace":"web","uid":"0b5c0a2e-6f5e-4a0e-9f3b-)", 100000000000 + i,
      R"(","resourceVersion":")", 1000000 + i,
      R"(","creationTimestamp":"2026-03-04T05:06:07Z","labels":{"app":"shop",)",
      R"("pod-template-hash":"7d9f"},"ownerReferences":[{"apiVersion":"apps/v1","kind":)",
      R"("ReplicaSet","name":"shop-7d9f","controller":true}]},"spec":{"containers":[{"name":"main",)",
      R"("image":"registry.example/shop:1.2.3","env":[)", environment,
      R"(],"resources":{"requests":{"cpu":"250m","memory":"256Mi"}}}],"nodeName":"node-7"},)",
      R"("status":{"phase":"Running","conditions":[{"type":"Ready","status":"True",)",
      R"("lastTransitionTime":"2026-03-04T05:06:37Z"}],"podIP":"10.1.2.3",)",
      R"("startTime":"2026-03-04T05:06:07Z"}})");
}

void BM_PageOf500Pods(benchmark::State& state) {
  std::string page = R"({"kind":"PodList","metadata":{"resourceVersion":"1"},"items":[)";
  for (int i = 0; i < 500; ++i) absl::StrAppend(&page, i == 0 ? "" : ",", Pod(i));
  page += "]}";
  ObjectReader reader;
  for (auto _ : state) {
    size_t bytes = 0;
    const auto end =
        reader.ReadPage(page, [&](absl::string_view object) { bytes += object.size(); });
    if (!end.ok()) state.SkipWithError("no page");
    benchmark::DoNotOptimize(bytes);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(page.size()));
}
BENCHMARK(BM_PageOf500Pods)->Unit(benchmark::kMicrosecond);

void BM_WatchEvent(benchmark::State& state) {
  const std::string line = absl::StrCat(R"({"type":"MODIFIED","object":)", Pod(1), "}");
  ObjectReader reader;
  for (auto _ : state) {
    const auto event = reader.ReadEvent(line);
    if (!event.ok()) state.SkipWithError("no event");
    benchmark::DoNotOptimize(event);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(line.size()));
}
BENCHMARK(BM_WatchEvent);

void BM_MetadataOfPod(benchmark::State& state) {
  const std::string pod = Pod(1);
  MetadataReader reader;
  for (auto _ : state) benchmark::DoNotOptimize(reader.Read(pod));
}
BENCHMARK(BM_MetadataOfPod);

void BM_ScaleOfDeployment(benchmark::State& state) {
  const std::string object = absl::StrCat(
      R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"shop","namespace":"web"},)",
      R"("spec":{"replicas":3,"selector":{"matchLabels":{"app":"shop"}},"template":)", Pod(1),
      R"(},"status":{"replicas":3}})");
  for (auto _ : state) {
    const auto scale = ScaleOfWorkload(object);
    if (!scale.ok()) state.SkipWithError("no scale");
    benchmark::DoNotOptimize(scale);
  }
}
BENCHMARK(BM_ScaleOfDeployment);

}  // namespace
}  // namespace flyball::kube

BENCHMARK_MAIN();
