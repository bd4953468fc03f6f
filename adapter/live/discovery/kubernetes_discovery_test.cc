#include "adapter/live/discovery/kubernetes_discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "adapter/live/scrape/testing/recorded_store.h"
#include "kube/testing/fake_api_server.h"

namespace flyball::discovery {
namespace {

absl::StatusOr<std::unique_ptr<scrape::PageFetcher>> MakeNone(const scrape::Job&,
                                                              const scrape::Target&) {
  return absl::UnavailableError("no pages here");
}

std::string PodWithPorts(int count) {
  std::string ports;
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&ports, i == 1 ? "" : ",", R"({"containerPort": )", i, "}");
  }
  return absl::StrCat(
      R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-1", "namespace": "shop",)",
      R"( "annotations": {"prometheus.io/scrape": "true"}},)",
      R"( "spec": {"containers": [{"name": "app", "ports": [)", ports, "]}]},",
      R"( "status": {"podIP": "10.0.0.1", "phase": "Running"}})");
}

TEST(KubernetesDiscoveryTest, APodThatAsksForItHasAtMostSoManyTargets) {
  kube::FakeApiServer api;
  api.Put(PodWithPorts(40));
  scrape::Job of_pods = scrape::AnnotatedPods(absl::Minutes(1));
  scrape::Job of_operator = of_pods;
  of_operator.name = "operator";
  of_operator.asked_for_by_pods = false;
  scrape::RecordedStore store;
  scrape::Scheduler scheduler(Clock::System(), store, MakeNone, {});
  scrape::TargetBoard board(Clock::System(), scheduler, {of_pods, of_operator});
  std::vector<std::unique_ptr<KubernetesDiscovery>> discoveries;
  for (size_t job = 0; job < 2; ++job) {
    auto made = KubernetesDiscovery::Make(Clock::System(), api.Connector(), board, job, 0, "own");
    ASSERT_TRUE(made.ok()) << made.status();
    discoveries.push_back(*std::move(made));
  }
  const auto count_of = [&](const std::string& job) {
    const auto states = scheduler.States();
    return std::count_if(states.begin(), states.end(),
                         [&](const scrape::TargetState& state) { return state.job == job; });
  };
  const absl::Time end = absl::Now() + absl::Seconds(30);
  while ((count_of("operator") < 40 || count_of("annotated-pods") < 32) && absl::Now() < end) {
    std::this_thread::yield();
  }
  EXPECT_EQ(count_of("annotated-pods"), 32);
  EXPECT_EQ(count_of("operator"), 40) << "as Prometheus does";
}

TEST(KubernetesDiscoveryTest, TargetsOfBeforeAreGoneOnceEveryWatchHasListed) {
  kube::FakeApiServer api;
  rules::Findings findings("f");
  const scrape::Config config = scrape::ReadScrapeConfig(
      "scrape_configs:\n- job_name: web\n"
      "  kubernetes_sd_configs: [{role: endpoints, namespaces: {names: [a, b]}}]\n",
      findings);
  scrape::RecordedStore store;
  scrape::Scheduler scheduler(Clock::System(), store, MakeNone, {});
  const auto before = std::make_shared<const scrape::Job>(config.jobs.at(0));
  scrape::TargetGroup group;
  group.targets.push_back({{"__address__", "h:1"}});
  scheduler.Replace(before, scrape::MakeTargets(*before, {group}));
  ASSERT_EQ(scheduler.States().size(), 1u);
  scrape::TargetBoard board(Clock::System(), scheduler, config.jobs);
  auto made = KubernetesDiscovery::Make(Clock::System(), api.Connector(), board, 0, 0, "own");
  ASSERT_TRUE(made.ok()) << made.status();
  const absl::Time end = absl::Now() + absl::Seconds(30);
  while (!scheduler.States().empty() && absl::Now() < end) std::this_thread::yield();
  EXPECT_TRUE(scheduler.States().empty());
}

}  // namespace
}  // namespace flyball::discovery
