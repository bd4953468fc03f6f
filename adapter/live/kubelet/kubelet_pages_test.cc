#include "adapter/live/kubelet/kubelet_pages.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "adapter/live/kubelet/kubelet_provider.h"
#include "adapter/testing/fakes.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::kubelet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr absl::Duration kInterval = absl::Seconds(15);

// One container of each pod and the node, with so many seconds of CPU, at a stamp in seconds.
std::string PageOf(const std::vector<std::string>& pods, double cpu, int64_t stamp) {
  std::string page;
  for (const std::string& pod : pods) {
    const std::string labels =
        absl::StrCat(R"({container="app",namespace="shop",pod=")", pod, "\"} ");
    absl::StrAppend(&page, "container_cpu_usage_seconds_total", labels, cpu, " ", stamp * 1000,
                    "\ncontainer_memory_working_set_bytes", labels, "2048 ", stamp * 1000,
                    "\ncontainer_start_time_seconds", labels, "1000\n");
  }
  return absl::StrCat(page, "node_cpu_usage_seconds_total ", 10 * cpu, " ", stamp * 1000,
                      "\nnode_memory_working_set_bytes 4096 ", stamp * 1000, "\n");
}

class FakeFetcher : public scrape::PageFetcher {
 public:
  explicit FakeFetcher(const absl::StatusOr<std::string>& page) : page_(page) {}
  absl::StatusOr<scrape::Page> Fetch() override {
    if (!page_.ok()) return page_.status();
    return scrape::Page{.body = *page_};
  }
  void Shutdown() override {}

 private:
  const absl::StatusOr<std::string>& page_;
};

class KubeletPagesTest : public testing::Test {
 protected:
  std::unique_ptr<scrape::PageFetcher> Fetcher(const std::string& node,
                                               const std::string& job = kKubeletJob) {
    const auto make = pages_.Reading([this, node](const scrape::Job&, const scrape::Target&)
                                         -> absl::StatusOr<std::unique_ptr<scrape::PageFetcher>> {
      return std::make_unique<FakeFetcher>(page_[node]);
    });
    scrape::Job of;
    of.name = job;
    scrape::Target target;
    target.labels = {{"__address__", "10.0.0.1:10250"}, {"instance", node}};
    return *make(of, target);
  }
  void Scrape(scrape::PageFetcher& fetcher, const std::string& node,
              absl::StatusOr<std::string> page) {
    page_[node] = std::move(page);
    const auto handed_on = fetcher.Fetch();
    if (handed_on.ok()) {
      EXPECT_EQ(handed_on->body, "");
    }
    clock_.Advance(kInterval);
  }
  // `name 500m 2048000`, for each pod.
  std::vector<std::string> Pods(const adapter::ObjectFilter& filter = {}) {
    std::vector<std::string> shown;
    const auto list = provider_.Pods("shop", "", filter, absl::Seconds(1));
    EXPECT_TRUE(list.ok()) << list.status();
    degraded_ = list->degraded;
    for (const adapter::PodMetrics& pod : list->items) {
      shown.push_back(pod.pod->name);
      for (const adapter::ContainerUsage& container : pod.containers) {
        absl::StrAppend(&shown.back(), " ", container.name, " ", container.usage.cpu_milli, "m ",
                        container.usage.memory_milli / 1000);
      }
    }
    return shown;
  }

  SimulatedClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  std::map<std::string, absl::StatusOr<std::string>> page_;
  KubeletPages pages_{clock_, kInterval};
  adapter::FakeDirectory directory_;
  KubeletProvider provider_{pages_, directory_};
  std::string degraded_;
};

TEST_F(KubeletPagesTest, TwoPagesOfANodeAreItsPodsMetrics) {
  directory_.Add("pods", "shop", "web-1");
  directory_.Add("pods", "shop", "web-2", {{"app", "other"}});
  directory_.Add("pods", "shop", "elsewhere");
  directory_.Add("nodes", "", "n1");
  const auto fetcher = Fetcher("n1");
  EXPECT_THAT(Pods(), IsEmpty());
  EXPECT_THAT(degraded_, HasSubstr("no kubelet has been scraped yet"));
  Scrape(*fetcher, "n1", PageOf({"web-1", "web-2", "of-nobody"}, 10, 2000));
  EXPECT_THAT(Pods(), IsEmpty());
  EXPECT_EQ(degraded_, "");
  Scrape(*fetcher, "n1", PageOf({"web-1", "web-2", "of-nobody"}, 15.0001, 2010));
  // 0.50001 cores, rounded up.
  EXPECT_THAT(Pods(), ElementsAre("web-1 app 501m 2048", "web-2 app 501m 2048"));
  EXPECT_THAT(Pods({.labels = *kube::Selector::Parse("app=other"), .others = nullptr}),
              ElementsAre("web-2 app 501m 2048"));

  const auto nodes = provider_.Nodes("", {}, absl::Seconds(1));
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->items.size(), 1u);
  EXPECT_EQ(nodes->items[0].usage.cpu_milli, 5001);
  EXPECT_EQ(nodes->items[0].timestamp, absl::FromUnixSeconds(2010));
  EXPECT_EQ(nodes->items[0].window, absl::Seconds(10));
}

TEST_F(KubeletPagesTest, OnePodByItsName) {
  directory_.Add("pods", "shop", "web-1");
  const auto fetcher = Fetcher("n1");
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 10, 2000));
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 20, 2010));
  EXPECT_EQ(provider_.Pods("shop", "web-1", {}, absl::Seconds(1))->items.size(), 1u);
  const absl::Status none = provider_.Pods("shop", "gone", {}, absl::Seconds(1)).status();
  EXPECT_TRUE(absl::IsNotFound(none)) << none;
}

TEST_F(KubeletPagesTest, AKubeletThatFailsIsUnknownAfterThreeIntervals) {
  directory_.Add("pods", "shop", "web-1");
  const auto fetcher = Fetcher("n1");
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 10, 2000));
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 20, 2010));
  const absl::Status refused = absl::UnavailableError("connection refused");
  Scrape(*fetcher, "n1", refused);
  Scrape(*fetcher, "n1", refused);
  EXPECT_THAT(Pods(), ElementsAre("web-1 app 1000m 2048"));
  Scrape(*fetcher, "n1", refused);
  EXPECT_THAT(Pods(), IsEmpty());
  EXPECT_THAT(degraded_, HasSubstr("node n1: connection refused"));
  Scrape(*fetcher, "n1", std::string("no { page"));
  EXPECT_THAT(Pods(), IsEmpty());
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 30, 2060));
  EXPECT_THAT(Pods(), IsEmpty()) << "two points are needed again";
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 40, 2070));
  EXPECT_THAT(Pods(), ElementsAre("web-1 app 1000m 2048"));
}

TEST_F(KubeletPagesTest, ANodeGoesWithItsTarget) {
  directory_.Add("pods", "shop", "web-1");
  auto fetcher = Fetcher("n1");
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 10, 2000));
  Scrape(*fetcher, "n1", PageOf({"web-1"}, 20, 2010));
  // The same node by another address: the target before ends a little later.
  auto next = Fetcher("n1");
  fetcher.reset();
  EXPECT_THAT(Pods(), ElementsAre("web-1 app 1000m 2048"));
  next.reset();
  EXPECT_THAT(Pods(), IsEmpty());
}

TEST_F(KubeletPagesTest, PagesOfOtherJobsAreNotRead) {
  directory_.Add("pods", "shop", "web-1");
  const auto fetcher = Fetcher("n1", "web");
  for (const double cpu : {10, 20}) {
    page_["n1"] = PageOf({"web-1"}, cpu, 2000 + static_cast<int64_t>(cpu));
    EXPECT_EQ(fetcher->Fetch()->body, *page_["n1"]);
  }
  EXPECT_THAT(Pods(), IsEmpty());
}

TEST(KubeletJob, AsksEachNodeForItsResources) {
  http::TransportOptions access;
  access.token_file = "/token";
  const scrape::Job job = KubeletJob(absl::Seconds(5), access);
  EXPECT_EQ(job.name, kKubeletJob);
  EXPECT_EQ(job.scheme, "https");
  EXPECT_EQ(job.metrics_path, "/metrics/resource");
  EXPECT_EQ(job.timeout, absl::Seconds(5));
  EXPECT_EQ(job.http.token_file, "/token");
  ASSERT_EQ(job.kubernetes_discoveries.size(), 1u);
  EXPECT_EQ(job.kubernetes_discoveries[0].role, scrape::KubernetesDiscovery::Role::kNode);
}

}  // namespace
}  // namespace flyball::kubelet
