#include "kube/watch/pod_feed.h"

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kube/testing/fake_api_server.h"
#include "kube/watch/cluster_directory.h"

namespace flyball::kube {
namespace {

using testing::HasSubstr;

// A source whose pods a test sets, followed by the caches of a directory.
class PodFeedTest : public testing::Test {
 protected:
  PodFeedTest() {
    options_.watch_kinds = false;
    options_.list_reuse = absl::Milliseconds(1);
    options_.pods = feed_;
    feed_->Begin([this] {
      std::vector<WatchedPod> pods;
      for (const auto& [name, pod] : known_) pods.push_back(pod);
      return pods;
    });
  }

  static WatchedPod Pod(const std::string& name, PodState state, const std::string& app) {
    return {std::make_shared<const ObjectMeta>(
                ObjectMeta{.ns = "shop", .name = name, .labels = {{"app", app}}}),
            state};
  }
  // What the source knows from now on.
  WatchedPod Know(const std::string& name, PodState state = PodState::kRunning,
                  const std::string& app = "a") {
    const WatchedPod pod = Pod(name, state, app);
    known_[name] = pod;
    if (state == PodState::kGone) known_.erase(name);
    return pod;
  }
  void Change(const std::string& name, PodState state = PodState::kRunning,
              const std::string& app = "a") {
    feed_->Changed({Know(name, state, app)});
  }

  ClusterDirectory& Directory() {
    if (directory_ == nullptr)
      directory_ = *ClusterDirectory::Make(api_.Connector(), Clock::System(), options_);
    return *directory_;
  }
  std::string Names(bool running_only = false, const std::string& selector = "",
                    absl::Duration timeout = absl::Seconds(45)) {
    ObjectQuery query;
    query.resource = {"", "pods"};
    query.ns = "shop";
    query.selector = *Selector::Parse(selector);
    query.running_only = running_only;
    query.timeout = timeout;
    const auto objects = Directory().List(query);
    if (!objects.ok()) return absl::StrCat("error ", objects.status().ToString());
    return absl::StrJoin(*objects, " ", [](std::string* out, const ObjectPtr& object) {
      absl::StrAppend(out, object->name);
    });
  }
  void AwaitDiscovery() {
    while (!Directory().Ready().ok()) std::this_thread::yield();
  }

  FakeApiServer api_;
  std::shared_ptr<PodFeed> feed_ = std::make_shared<PodFeed>();
  std::map<std::string, WatchedPod> known_;
  ClusterDirectoryOptions options_;
  std::unique_ptr<ClusterDirectory> directory_;
};

TEST_F(PodFeedTest, WhoComesLateIsToldWhatIsKnown) {
  Know("b");
  Know("a", PodState::kNotRunning);
  feed_->Listed();
  EXPECT_FALSE(feed_->followed());
  EXPECT_EQ(Names(), "a b");
  EXPECT_TRUE(feed_->followed());
  EXPECT_EQ(Names(/*running_only=*/true), "b");
  EXPECT_EQ(api_.CountRequests("", "/api/v1/pods"), 0);
}

TEST_F(PodFeedTest, ChangesAreSeenAtOnce) {
  Know("a");
  feed_->Listed();
  ASSERT_EQ(Names(), "a");
  ASSERT_EQ(Names(/*running_only=*/true), "a");
  Change("b", PodState::kNotRunning);
  EXPECT_EQ(Names(), "a b");
  EXPECT_EQ(Names(/*running_only=*/true), "a");
  Change("b", PodState::kRunning, "x");
  Change("a", PodState::kNotRunning);
  EXPECT_EQ(Names(), "a b");
  EXPECT_EQ(Names(/*running_only=*/true), "b");
  EXPECT_EQ(Names(/*running_only=*/false, "app=x"), "b");
  Change("b", PodState::kGone);
  EXPECT_EQ(Names(), "a");
  EXPECT_EQ(Names(/*running_only=*/true), "");
}

TEST_F(PodFeedTest, AListReplacesWhatWasKnown) {
  Know("a");
  feed_->Listed();
  ASSERT_EQ(Names(), "a");
  known_.clear();
  Know("b");
  feed_->Listed();
  EXPECT_EQ(Names(), "b");
}

TEST_F(PodFeedTest, GenerationGrowsOnlyWithWhatIsKept) {
  Know("a");
  feed_->Listed();
  ASSERT_EQ(Names(), "a");
  const uint64_t before = Directory().Generation();
  Change("a", PodState::kNotRunning);  // of which the cache of all pods knows nothing
  feed_->Listed();
  EXPECT_EQ(Directory().Generation(), before);
  Change("a", PodState::kNotRunning, "x");
  EXPECT_EQ(Directory().Generation(), before + 1);
}

TEST_F(PodFeedTest, BeforeTheFirstListPodsAreNotKnown) {
  Know("a");
  AwaitDiscovery();
  EXPECT_THAT(Names(false, "", absl::ZeroDuration()), HasSubstr("has not answered yet"));
  feed_->StatusChanged(absl::UnavailableError("connection refused"));
  EXPECT_EQ(Names(), "error UNAVAILABLE: connection refused");
  feed_->Listed();
  feed_->StatusChanged(absl::OkStatus());
  EXPECT_EQ(Names(), "a");
}

TEST_F(PodFeedTest, WhatIsKeptIsKnownOnceItIsListed) {
  Directory().Keep({{.resource = {"", "pods"}, .running_only = true}});
  while (!feed_->followed()) std::this_thread::yield();
  EXPECT_EQ(Directory().Kept().code(), absl::StatusCode::kUnavailable);
  feed_->Listed();
  // A cache follows the feed a moment before the directory has it.
  while (!Directory().Kept().ok()) std::this_thread::yield();
}

TEST_F(PodFeedTest, WhileTheWatchFailsTheLastPodsAreServed) {
  Know("a");
  feed_->Listed();
  ASSERT_EQ(Names(), "a");
  feed_->StatusChanged(absl::UnavailableError("cut"));
  EXPECT_EQ(Names(), "a");
  EXPECT_EQ(Names(/*running_only=*/true), "a");  // also to who comes now
}

TEST_F(PodFeedTest, WhereWatchingIsForbiddenPodsAreListedOnRequest) {
  api_.Put(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"z","namespace":"shop"}})");
  Know("a");
  feed_->Listed();
  ASSERT_EQ(Names(), "a");
  feed_->StatusChanged(absl::PermissionDeniedError("no watch"));
  EXPECT_EQ(Names(), "z");
  EXPECT_EQ(api_.CountRequests("GET", "/api/v1/namespaces/shop/pods"), 1);
  feed_->StatusChanged(absl::OkStatus());
  EXPECT_EQ(Names(), "a");
}

TEST_F(PodFeedTest, TooManyPodsAreAnErrorUntilSomeHaveGone) {
  options_.cache.max_objects = 1;
  Know("a");
  Know("b", PodState::kNotRunning);
  feed_->Listed();
  EXPECT_THAT(Names(), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_EQ(Names(/*running_only=*/true), "a");
  Change("a", PodState::kGone);
  EXPECT_EQ(Names(), "b");
  Change("c");
  EXPECT_THAT(Names(), HasSubstr("RESOURCE_EXHAUSTED"));
  EXPECT_EQ(Names(/*running_only=*/true), "c");
}

TEST_F(PodFeedTest, AnUnusedCacheFollowsNoMoreAndComesBack) {
  options_.unused_after = absl::ZeroDuration();
  Know("a");
  feed_->Listed();
  ASSERT_EQ(Names(), "a");
  while (feed_->followed()) std::this_thread::yield();
  Know("b");  // which nobody is told of
  EXPECT_EQ(Names(), "a b");
}

TEST_F(PodFeedTest, AfterTheSourceItsPodsStay) {
  Know("a");
  feed_->Listed();
  ASSERT_EQ(Names(), "a");
  feed_->End();
  EXPECT_EQ(Names(), "a");
  EXPECT_THAT(Names(true, "", absl::ZeroDuration()), HasSubstr("has not answered yet"));
}

}  // namespace
}  // namespace flyball::kube
