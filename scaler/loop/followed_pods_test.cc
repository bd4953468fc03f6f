// The scaler's watch of pods, followed by the directory that metrics providers ask.

#include <memory>
#include <string>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "kube/watch/cluster_directory.h"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

class FollowedPodsTest : public testing::Test {
 protected:
  FollowedPodsTest() {
    world_.pod_followers = std::make_shared<kube::PodFeed>();
    kube::ClusterDirectoryOptions options;
    options.watch_kinds = false;
    options.pods = world_.pod_followers;
    directory_ = *kube::ClusterDirectory::Make(world_.api.Connector(), Clock::System(), options);
    world_.AddDeployment("web", 2);
  }

  std::string Names(bool running_only = true) {
    kube::ObjectQuery query;
    query.resource = {"", "pods"};
    query.ns = "shop";
    query.running_only = running_only;
    const auto objects = directory_->List(query);
    if (!objects.ok()) return objects.status().ToString();
    return absl::StrJoin(*objects, " ", [](std::string* out, const kube::ObjectPtr& object) {
      absl::StrAppend(out, object->name);
    });
  }
  // A watch that broke waits for a while of the world's time before it begins again.
  template <typename Condition>
  bool AwaitWhileTimePasses(const Condition& condition) {
    return LoopWorld::Await([&] {
      world_.clock.Advance(absl::Milliseconds(100));
      return condition();
    });
  }
  void AwaitNames(const std::string& want) {
    EXPECT_TRUE(AwaitWhileTimePasses([&] { return Names() == want; })) << Names();
  }
  void AwaitPods(size_t want) {
    EXPECT_TRUE(AwaitWhileTimePasses([&] { return world_.scaler->stats().pods == want; }));
  }

  LoopWorld world_;
  std::unique_ptr<kube::ClusterDirectory> directory_;
};

TEST_F(FollowedPodsTest, OneListAndOneWatchAreForBoth) {
  directory_->Keep({{.resource = {"", "pods"}, .running_only = true}});
  world_.Start();
  AwaitNames("web-0 web-1");
  EXPECT_EQ(Names(/*running_only=*/false), "web-0 web-1");
  AwaitPods(2);
  world_.AddPod("web", "web-2");
  AwaitNames("web-0 web-1 web-2");
  EXPECT_EQ(world_.api.CountRequests("GET", "/pods?resourceVersion="), 1);
  EXPECT_EQ(world_.api.CountRequests("WATCH", "/pods"), 1);
}

TEST_F(FollowedPodsTest, AfterABreakBothKnowWhatIsThere) {
  world_.Start();
  AwaitNames("web-0 web-1");
  ASSERT_TRUE(world_.api.AwaitRequests("WATCH", "/api/v1/pods", 1));
  world_.api.CutWatches();
  world_.AddPod("web", "web-2");
  AwaitNames("web-0 web-1 web-2");
  AwaitPods(3);
  // What was deleted while nothing could be heard, only a list can tell.
  world_.api.SetDead(true);
  world_.api.Delete("/api/v1/namespaces/shop/pods/web-0");
  EXPECT_EQ(Names(), "web-0 web-1 web-2");
  world_.api.ExpireVersions();
  world_.api.SetDead(false);
  AwaitNames("web-1 web-2");
  AwaitPods(2);
}

TEST_F(FollowedPodsTest, PodsAreFollowedUntilTheScalerIsGone) {
  world_.Start();
  AwaitNames("web-0 web-1");
  world_.scaler->Stop();
  world_.AddPod("web", "web-2");
  AwaitNames("web-0 web-1 web-2");
  world_.scaler.reset();
  EXPECT_EQ(Names(), "web-0 web-1 web-2");
}

}  // namespace
}  // namespace flyball::scaler
