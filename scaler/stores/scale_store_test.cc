#include "scaler/stores/scale_store.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

namespace flyball::scaler {
namespace {

const kube::ResourceInfo kDeployments = {
    .name = {"apps", "deployments"}, .version = "v1", .kind = "Deployment", .singular = ""};

std::string Deployment(absl::string_view uid, int version, int replicas) {
  return absl::StrCat(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",)",
                      R"("namespace":"shop","uid":")", uid, R"(","resourceVersion":")", version,
                      R"("},"spec":{"replicas":)", replicas,
                      R"(,"selector":{"matchLabels":{"app":"web"}}}})");
}

kube::Scale Answer(absl::string_view uid, int version, int replicas) {
  return *kube::ScaleOfWorkload(Deployment(uid, version, replicas));
}

class ScaleStoreTest : public testing::Test {
 protected:
  ScaleStoreTest() : place_(store_.Find(kDeployments, "shop", "web")) {
    watch_->ListStarted();
    watch_->Listed(Deployment("old", 5, 3));
    watch_->ListEnded();
  }

  // The uid of what is known; "" for nothing.
  std::string Known() const {
    const auto scale = place_.object->scale.Get();
    return scale == nullptr ? "" : scale->uid;
  }

  SimulatedClock clock_{absl::UnixEpoch()};
  kube::WatchHandler* watch_ = nullptr;
  ScaleStore store_{
      clock_, {}, [this](const auto&, const auto&, auto& handler) { watch_ = &handler; }};
  ScaleStore::Place place_;
};

TEST_F(ScaleStoreTest, AnAnswerThatComesAfterTheEndDoesNotReviveTheTarget) {
  watch_->Changed(kube::ChangeType::kDeleted, Deployment("old", 7, 3));
  store_.Learn(kDeployments, Answer("old", 6, 4));  // of a write before the end
  EXPECT_EQ(Known(), "");
}

TEST_F(ScaleStoreTest, NorAfterAListWithoutIt) {
  watch_->ListStarted();
  watch_->ListEnded();
  store_.Learn(kDeployments, Answer("old", 6, 4));
  EXPECT_EQ(Known(), "");
}

TEST_F(ScaleStoreTest, TheEndOfATargetIsNotThatOfItsSuccessor) {
  store_.Learn(kDeployments, Answer("new", 9, 1));  // the watch is behind
  watch_->Changed(kube::ChangeType::kDeleted, Deployment("old", 7, 3));
  EXPECT_EQ(Known(), "new");
  watch_->Changed(kube::ChangeType::kAdded, Deployment("new", 9, 1));
  EXPECT_EQ(Known(), "new");
}

TEST_F(ScaleStoreTest, WhatTheWatchTellsCountsAlsoWhenAListDidNotHaveItYet) {
  store_.Learn(kDeployments, Answer("new", 9, 1));
  watch_->ListStarted();
  watch_->ListEnded();
  watch_->Changed(kube::ChangeType::kAdded, Deployment("new", 9, 1));
  EXPECT_EQ(Known(), "new");
}

// No watch tells of it.
TEST_F(ScaleStoreTest, AfterAConflictTheAnswerOfAClusterThatWasSetBackCounts) {
  const kube::Scale before = *place_.object->scale.Get();
  store_.Learn(kDeployments, Answer("old", 3, 1));
  EXPECT_EQ(place_.object->scale.Get()->spec_replicas, 3);  // it came late
  store_.LearnAfterConflict(kDeployments, before, Answer("old", 3, 1));
  EXPECT_EQ(place_.object->scale.Get()->spec_replicas, 1);
  watch_->Changed(kube::ChangeType::kModified, Deployment("old", 4, 2));
  EXPECT_EQ(place_.object->scale.Get()->spec_replicas, 2);
}

TEST_F(ScaleStoreTest, AfterAConflictAnAnswerIsNoNewsWhereTheWatchToldMoreMeanwhile) {
  const kube::Scale before = *place_.object->scale.Get();
  watch_->Changed(kube::ChangeType::kModified, Deployment("old", 7, 4));
  store_.LearnAfterConflict(kDeployments, before, Answer("old", 3, 1));
  store_.LearnAfterConflict(kDeployments, before, Answer("old", 6, 2));
  EXPECT_EQ(place_.object->scale.Get()->spec_replicas, 4);
}

// A target may end before its autoscaler does.
TEST_F(ScaleStoreTest, PlacesOfTargetsThatNobodyAsksForAnyMoreAreForgotten) {
  std::vector<std::weak_ptr<const ScaleStore::ObjectScale>> places;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = absl::StrCat("gone-", i);
    places.push_back(store_.Find(kDeployments, "shop", name).object);
  }
  const auto kept = std::count_if(places.begin(), places.end(),
                                  [](const auto& place) { return !place.expired(); });
  EXPECT_LT(kept, 100);
  EXPECT_EQ(Known(), "old");
}

// Its scale is known from the list alone: whoever asks for it later must find it.
TEST_F(ScaleStoreTest, PlacesOfTargetsThatExistStay) {
  watch_->ListStarted();
  for (int i = 0; i < 1000; ++i) {
    watch_->Listed(absl::StrReplaceAll(Deployment("a", 9, 4), {{"web", absl::StrCat("web-", i)}}));
  }
  watch_->ListEnded();
  for (int i = 0; i < 1000; ++i) {
    const ScaleStore::Place place = store_.Find(kDeployments, "shop", absl::StrCat("web-", i));
    ASSERT_NE(place.object->scale.Get(), nullptr) << i;
  }
}

class ScaleStoreOfNamespacesTest : public testing::Test {
 protected:
  void List(const std::string& ns, const std::string& json) {
    watches_[ns]->ListStarted();
    if (!json.empty()) watches_[ns]->Listed(json);
    watches_[ns]->ListEnded();
  }

  SimulatedClock clock_{absl::UnixEpoch()};
  std::map<std::string, kube::WatchHandler*> watches_;
  ScaleStore store_{clock_, {"shop", "gone"}, [this](const auto&, const auto& ns, auto& handler) {
                      watches_[ns] = &handler;
                    }};
};

TEST_F(ScaleStoreOfNamespacesTest, AWatchThatFailsIsBrokenInItsNamespaceAlone) {
  const ScaleStore::Place shop = store_.Find(kDeployments, "shop", "web");
  EXPECT_FALSE(watches_.contains("gone")) << "nobody has asked for it";
  const ScaleStore::Place gone = store_.Find(kDeployments, "gone", "web");
  List("shop", Deployment("a", 5, 3));
  EXPECT_EQ(ScaleStore::IsUsable(*shop.kind), ScaleStore::Usable::kYes);
  EXPECT_EQ(ScaleStore::IsUsable(*gone.kind), ScaleStore::Usable::kNotListed);
  watches_["gone"]->StatusChanged(absl::PermissionDeniedError("forbidden"));
  EXPECT_EQ(ScaleStore::IsUsable(*shop.kind), ScaleStore::Usable::kYes);
  EXPECT_EQ(ScaleStore::IsUsable(*gone.kind), ScaleStore::Usable::kBroken);
  EXPECT_EQ(ScaleStore::Failure(*shop.kind), "");
  EXPECT_EQ(ScaleStore::Failure(*gone.kind),
            "the watch of deployments.apps of gone fails: forbidden");
}

TEST_F(ScaleStoreOfNamespacesTest, AListTellsNothingOfAnotherNamespace) {
  const ScaleStore::Place shop = store_.Find(kDeployments, "shop", "web");
  store_.Find(kDeployments, "gone", "web");
  List("shop", Deployment("a", 5, 3));
  List("gone", "");
  ASSERT_NE(shop.object->scale.Get(), nullptr);
  store_.Learn(kDeployments, Answer("a", 6, 4));
  EXPECT_EQ(shop.object->scale.Get()->spec_replicas, 4);
}

}  // namespace
}  // namespace flyball::scaler
