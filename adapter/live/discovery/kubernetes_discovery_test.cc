#include "adapter/live/discovery/kubernetes_discovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
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

std::string PodWithPorts(const std::string& name, int count, const std::string& ns = "shop") {
  std::string ports;
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&ports, i == 1 ? "" : ",", R"({"containerPort": )", i, "}");
  }
  return absl::StrCat(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")", name,
                      R"(", "namespace": ")", ns,
                      R"(", "annotations": {"prometheus.io/scrape": "true"}},)",
                      R"( "spec": {"containers": [{"name": "app", "ports": [)", ports, "]}]},",
                      R"( "status": {"podIP": "10.0.0.1", "phase": "Running"}})");
}

TEST(KubernetesDiscoveryTest, APodThatAsksForItHasAtMostSoManyTargets) {
  kube::FakeApiServer api;
  api.Put(PodWithPorts("web-1", 40));
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

TEST(KubernetesDiscoveryTest, APodForWhichThereWasNoMemoryIsScrapedOnceThereIs) {
  kube::FakeApiServer api;
  api.Put(PodWithPorts("web-1", 8));
  api.Put(PodWithPorts("web-2", 1));
  api.Put(PodWithPorts("zebra-1", 1, "zoo"));
  api.Put(PodWithPorts("zebra-2", 1, "zoo"));
  scrape::RecordedStore store;
  scrape::Scheduler scheduler(Clock::System(), store, MakeNone, {});
  // For ten targets, of which one namespace gets eight.
  scrape::TargetBoard board(Clock::System(), scheduler, {scrape::AnnotatedPods(absl::Minutes(1))},
                            80 << 10);
  const auto made = KubernetesDiscovery::Make(Clock::System(), api.Connector(), board, 0, 0, "own");
  ASSERT_TRUE(made.ok()) << made.status();
  const auto pods = [&] {
    std::multiset<std::string> names;
    for (const scrape::TargetState& state : scheduler.States()) {
      names.emplace(promql::LabelValue(state.target.labels, "pod"));
    }
    return names;
  };
  const absl::Time end = absl::Now() + absl::Seconds(30);
  while (pods().empty() && absl::Now() < end) std::this_thread::yield();
  EXPECT_EQ(pods().count("web-1"), 8u);
  EXPECT_EQ(pods().count("web-2"), 0u);
  EXPECT_EQ(pods().count("zebra-1"), 1u);
  EXPECT_EQ(pods().count("zebra-2"), 0u);
  api.Delete("/api/v1/namespaces/zoo/pods/zebra-1");
  while (pods().count("zebra-2") == 0 && absl::Now() < end) std::this_thread::yield();
  EXPECT_EQ(pods().count("zebra-2"), 1u) << "although the namespace before it has no room";
  EXPECT_EQ(pods().count("web-2"), 0u);
  api.Delete("/api/v1/namespaces/shop/pods/web-1");
  while (pods().count("web-2") == 0 && absl::Now() < end) std::this_thread::yield();
  EXPECT_EQ(pods(), (std::multiset<std::string>{"web-2", "zebra-2"}));
}

std::string PodOfVersion(const std::string& name, int version) {
  return absl::StrCat(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": ")", name,
                      R"(", "namespace": "shop", "labels": {"version": ")", version, R"("}}})");
}

std::string NodeInZone(const std::string& zone) {
  return absl::StrCat(R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n",)",
                      R"( "labels": {"zone": ")", zone, R"("}}})");
}

// On node "n".
std::string EndpointsOfPods(const std::string& name, const std::vector<std::string>& pods) {
  std::string addresses;
  for (const std::string& pod : pods) {
    absl::StrAppend(&addresses, addresses.empty() ? "" : ",", R"({"ip": ")", pod,
                    R"(", "nodeName": "n", "targetRef": {"kind": "Pod", "namespace": "shop",)",
                    R"( "name": ")", pod, R"("}})");
  }
  return absl::StrCat(R"({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": ")", name,
                      R"(", "namespace": "shop"}, "subsets": [{"addresses": [)", addresses,
                      R"(], "ports": [{"port": 80}]}]})");
}

// What is known of each target that `role` finds: object, address, version of the pod, zone of the
// node.
class FoundTargetsTest : public testing::Test {
 protected:
  void Discover(const std::string& role) {
    rules::Findings findings("f");
    const scrape::Config config = scrape::ReadScrapeConfig(
        absl::StrCat(
            "scrape_configs:\n- job_name: web\n"
            "  kubernetes_sd_configs: [{role: ",
            role,
            ", attach_metadata: {node: true}}]\n"
            "  relabel_configs:\n"
            "  - {source_labels: [__meta_kubernetes_endpoints_name], target_label: of}\n"
            "  - {source_labels: [__meta_kubernetes_pod_label_version], target_label: version}\n"
            "  - {source_labels: [__meta_kubernetes_node_label_zone], target_label: zone}\n"),
        findings);
    board_.emplace(Clock::System(), scheduler_, config.jobs);
    auto made = KubernetesDiscovery::Make(Clock::System(), api_.Connector(), *board_, 0, 0, "own");
    ASSERT_TRUE(made.ok()) << made.status();
    discovery_ = *std::move(made);
  }
  void Await(const std::set<std::string>& wanted) {
    std::set<std::string> found;
    while (found != wanted) {
      std::this_thread::yield();
      found.clear();
      for (const scrape::TargetState& state : scheduler_.States()) {
        const auto label = [&](const char* name) {
          return promql::LabelValue(state.target.labels, name);
        };
        found.insert(absl::StrCat(label("of"), " ", label("__address__"), " ", label("version"),
                                  " ", label("zone")));
      }
    }
  }

  kube::FakeApiServer api_;
  scrape::RecordedStore store_;
  scrape::Scheduler scheduler_{Clock::System(), store_, MakeNone, {}};
  std::optional<scrape::TargetBoard> board_;
  std::unique_ptr<KubernetesDiscovery> discovery_;
};

TEST_F(FoundTargetsTest, OfEndpointsFollowThePodsAndNodesThatTheseName) {
  const std::string pods = "/api/v1/namespaces/shop/pods/";
  api_.Put(NodeInZone("x"));
  api_.Put(PodOfVersion("p", 1));
  api_.Put(PodOfVersion("q", 1));
  api_.Put(EndpointsOfPods("a", {"p", "q"}));
  api_.Put(EndpointsOfPods("b", {"p"}));
  Discover("endpoints");
  Await({"a p:80 1 x", "a q:80 1 x", "b p:80 1 x"});
  api_.Put(PodOfVersion("p", 2));
  Await({"a p:80 2 x", "a q:80 1 x", "b p:80 2 x"});
  api_.Delete(pods + "p");
  Await({"a p:80  x", "a q:80 1 x", "b p:80  x"});
  api_.Put(PodOfVersion("p", 3));
  Await({"a p:80 3 x", "a q:80 1 x", "b p:80 3 x"});
  api_.Put(EndpointsOfPods("b", {"q"}));
  Await({"a p:80 3 x", "a q:80 1 x", "b q:80 1 x"});
  api_.Put(PodOfVersion("p", 4));
  api_.Put(PodOfVersion("q", 5));
  Await({"a p:80 4 x", "a q:80 5 x", "b q:80 5 x"});
  api_.Put(NodeInZone("y"));
  Await({"a p:80 4 y", "a q:80 5 y", "b q:80 5 y"});
  api_.Delete("/api/v1/namespaces/shop/endpoints/a");
  Await({"b q:80 5 y"});
  api_.Put(EndpointsOfPods("a", {"p"}));
  api_.Put(PodOfVersion("p", 6));
  Await({"a p:80 6 y", "b q:80 5 y"});
}

TEST_F(FoundTargetsTest, OfEndpointsFollowWhatANewListHas) {
  api_.Put(NodeInZone("x"));
  api_.Put(PodOfVersion("p", 1));
  api_.Put(EndpointsOfPods("a", {"p"}));
  api_.Put(EndpointsOfPods("b", {"p"}));
  Discover("endpoints");
  Await({"a p:80 1 x", "b p:80 1 x"});
  api_.SetDead(true);
  api_.Delete("/api/v1/namespaces/shop/pods/p");
  api_.Delete("/api/v1/namespaces/shop/endpoints/b");
  api_.ExpireVersions();
  api_.SetDead(false);
  Await({"a p:80  x"});
  api_.Put(EndpointsOfPods("b", {"p"}));
  api_.Put(PodOfVersion("p", 2));
  Await({"a p:80 2 x", "b p:80 2 x"});
}

TEST_F(FoundTargetsTest, OfPodsFollowTheirNodes) {
  const auto put = [this](const std::string& ip) {
    api_.Put(absl::StrCat(
        R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "shop"},)",
        R"( "spec": {"nodeName": "n", "containers": [{"name": "c"}]}, "status": {"podIP": ")", ip,
        R"("}})"));
  };
  put("i");
  api_.Put(NodeInZone("x"));
  Discover("pod");
  Await({" i  x"});
  api_.Put(NodeInZone("y"));
  Await({" i  y"});
  put("j");
  Await({" j  y"});
  api_.Delete("/api/v1/nodes/n");
  Await({});
  api_.Put(NodeInZone("z"));
  Await({" j  z"});
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
