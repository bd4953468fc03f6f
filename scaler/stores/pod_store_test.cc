#include "scaler/stores/pod_store.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "kube/testing/fake_api_server.h"
#include "kube/watch/cluster_directory.h"
#include "kube/watch/object_watch.h"

namespace flyball::scaler {
namespace {

std::string PodJson(const std::string& ns, const std::string& name, const std::string& app,
                    const std::string& phase) {
  return absl::StrCat(R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":")", ns,
                      R"(","name":")", name, R"(","labels":{"app":")", app,
                      R"(","tier":""}},"status":{"phase":")", phase, R"("}})");
}

// One API server; a store with its watch, whose pods a directory has from it, beside a directory
// that watches them itself.
class FollowedStoreTest : public testing::Test {
 protected:
  FollowedStoreTest() {
    kube::ClusterDirectoryOptions options;
    options.watch_kinds = false;
    options.cache.watch.first_backoff = absl::Milliseconds(1);
    options.cache.watch.max_backoff = absl::Milliseconds(2);
    watching_ = *kube::ClusterDirectory::Make(api_.Connector(), Clock::System(), options);
    options.pods = feed_;
    following_ = *kube::ClusterDirectory::Make(api_.Connector(), Clock::System(), options);
  }

  void Watch() {
    kube::ObjectWatchOptions options;
    options.resource = {.name = {"", "pods"}, .version = "v1", .kind = "Pod", .singular = "pod"};
    options.first_backoff = absl::Milliseconds(1);
    options.max_backoff = absl::Milliseconds(2);
    watch_ = std::make_unique<kube::ObjectWatch>(options, api_.Connect(), Clock::System(),
                                                 store_.AddFeed(""));
  }

  static std::string Text(kube::ObjectDirectory& directory, bool running_only) {
    kube::ObjectQuery query;
    query.resource = {"", "pods"};
    query.running_only = running_only;
    const auto objects = directory.List(query);
    if (!objects.ok()) return objects.status().ToString();
    std::string text;
    for (const kube::ObjectPtr& object : *objects) {
      absl::StrAppend(&text, object->ns, "/", object->name);
      for (const auto& [key, value] : object->labels) absl::StrAppend(&text, " ", key, "=", value);
      text.push_back('\n');
    }
    return text;
  }
  // Of all pods and of those that run, once both say the same as `last` has been seen by both.
  void ExpectTheSame(const std::string& last) {
    for (const bool running_only : {true, false}) {
      const auto seen = [&](kube::ObjectDirectory& directory) {
        return absl::StrContains(Text(directory, running_only), last);
      };
      const absl::Notification never;
      for (int i = 0; i < 30'000 && !(seen(*watching_) && seen(*following_)); ++i) {
        never.WaitForNotificationWithTimeout(absl::Milliseconds(1));
      }
      EXPECT_EQ(Text(*following_, running_only), Text(*watching_, running_only));
    }
  }

  kube::FakeApiServer api_;
  std::shared_ptr<kube::PodFeed> feed_ = std::make_shared<kube::PodFeed>();
  PodStore store_{Clock::System(), feed_};
  std::unique_ptr<kube::ClusterDirectory> watching_, following_;
  std::unique_ptr<kube::ObjectWatch> watch_;
};

TEST_F(FollowedStoreTest, ADirectoryThatComesLateKnowsAllPods) {
  api_.Put(PodJson("shop", "a", "x", "Running"));
  api_.Put(PodJson("bank", "b", "y", "Succeeded"));
  Watch();
  ASSERT_TRUE(api_.AwaitWatches(1));
  ExpectTheSame("shop/a");
  EXPECT_EQ(Text(*following_, /*running_only=*/true), "shop/a app=x tier=\n");
}

TEST_F(FollowedStoreTest, AnswersAsAWatchOfItsOwnWould) {
  std::minstd_rand random(7);
  const auto any = [&](const std::vector<std::string>& of) { return of[random() % of.size()]; };
  Watch();
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 30; ++i) {
      const std::string ns = any({"shop", "bank", "mail"});
      const std::string name = absl::StrCat("pod-", random() % 20);
      if (random() % 3 == 0) {
        api_.Delete(absl::StrCat("/api/v1/namespaces/", ns, "/pods/", name));
      } else {
        api_.Put(PodJson(ns, name, any({"x", "y"}), any({"Pending", "Running", "Failed"})));
      }
    }
    if (round % 5 == 1) api_.CutWatches();
    if (round % 5 == 3) api_.ExpireVersions();
    const std::string last = absl::StrCat("last-", round);
    api_.Put(PodJson("zoo", last, "x", "Running"));
    ExpectTheSame(absl::StrCat("zoo/", last, " "));
    api_.Delete(absl::StrCat("/api/v1/namespaces/zoo/pods/", last));
  }
}

class PodStoreOfNamespacesTest : public testing::Test {
 protected:
  static void List(kube::WatchHandler& feed) {
    feed.ListStarted();
    feed.ListEnded();
  }

  SimulatedClock clock_{absl::UnixEpoch()};
  PodStore store_{clock_, nullptr};
  kube::WatchHandler& shop_ = store_.AddFeed("shop");
  kube::WatchHandler& gone_ = store_.AddFeed("gone");
};

TEST_F(PodStoreOfNamespacesTest, AListThatFailsIsMissingInItsNamespaceAlone) {
  List(shop_);
  EXPECT_TRUE(store_.Waits());
  gone_.StatusChanged(absl::PermissionDeniedError("forbidden"));
  EXPECT_FALSE(store_.Waits());
  EXPECT_EQ(store_.Ready("shop"), absl::OkStatus());
  EXPECT_EQ(store_.Ready("gone").message(), "pods of gone are not listed yet: forbidden");
  EXPECT_EQ(store_.Ready(), store_.Ready("gone"));
  EXPECT_EQ(store_.Unusable("shop"), "");
  EXPECT_EQ(store_.Unusable("gone"), "the pods of gone are not listed yet: forbidden");
  EXPECT_EQ(store_.Count("shop", kube::Selector(), false).value_or(-1), 0);
  EXPECT_TRUE(absl::IsUnavailable(store_.Count("gone", kube::Selector(), false).status()));
}

TEST_F(PodStoreOfNamespacesTest, AWatchThatBreaksIsBrokenInItsNamespaceAlone) {
  List(shop_);
  List(gone_);
  gone_.StatusChanged(absl::PermissionDeniedError("forbidden"));
  EXPECT_EQ(store_.Failure("shop"), "");
  EXPECT_EQ(store_.Failure("gone"), "the watch of pods of gone fails: forbidden");
  EXPECT_EQ(store_.Unusable("gone"), "");
  clock_.Advance(kStaleAfter + absl::Seconds(1));
  EXPECT_EQ(store_.Unusable("shop"), "");
  EXPECT_NE(store_.Unusable("gone"), "");
}

TEST(PodStore, AWatchOfAllNamespacesIsThatOfEach) {
  SimulatedClock clock(absl::UnixEpoch());
  PodStore store(clock, nullptr);
  store.AddFeed("").StatusChanged(absl::PermissionDeniedError("forbidden"));
  EXPECT_EQ(store.Failure("shop"), "the watch of pods fails: forbidden");
  EXPECT_EQ(store.Unusable("shop"), "the pods are not listed yet: forbidden");
  EXPECT_FALSE(store.Ready("shop").ok());
}

}  // namespace
}  // namespace flyball::scaler
