#include "scaler/stores/autoscaler_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/test_log.h"

namespace flyball::scaler {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Lt;
using testing::SizeIs;

class Noted : public AutoscalerSink {
 public:
  void OnAutoscaler(ManagedPtr managed) override { seen.push_back(std::move(managed)); }
  void OnGone(const AutoscalerKey& key) override { gone.push_back(key.ToString()); }

  std::vector<ManagedPtr> seen;
  std::vector<std::string> gone;
};

// An HPA whose managedFields have that many levels: the API server takes thousands of them from
// whoever may write the object.
std::string Hpa(int max_replicas, int levels) {
  std::string fields;
  for (int i = 0; i < levels; ++i) fields += R"({"f:a":)";
  return absl::StrCat(
      R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":"web",)",
      R"("namespace":"shop","managedFields":[{"manager":"x","fieldsV1":)", fields, "{}",
      std::string(levels, '}'), R"(}]},"spec":{"maxReplicas":)", max_replicas,
      R"(,"scaleTargetRef":{"kind":"Deployment","name":"web","apiVersion":"apps/v1"}}})");
}

class AutoscalerStoreTest : public testing::Test {
 protected:
  SimulatedClock clock_{absl::UnixEpoch()};
  Noted noted_;
  AutoscalerStore store_{clock_, noted_};
  kube::WatchHandler& feed_ = store_.AddFeed(AutoscalerKind::kHpa, "");
};

TEST_F(AutoscalerStoreTest, AnObjectTooDeepToBeReadIsNotDecidedByItsOldSpec) {
  feed_.Changed(kube::ChangeType::kAdded, Hpa(3, 1));
  feed_.Changed(kube::ChangeType::kModified, Hpa(7, 5000));
  ASSERT_EQ(noted_.seen.size(), 2u);
  EXPECT_EQ(noted_.seen[0]->refused, "");
  EXPECT_EQ(noted_.seen[1]->key, noted_.seen[0]->key);
  EXPECT_THAT(noted_.seen[1]->refused, HasSubstr("nested too deeply"));
}

TEST_F(AutoscalerStoreTest, AnObjectTooDeepToBeReadIsGoneWhenItIsDeleted) {
  feed_.Changed(kube::ChangeType::kAdded, Hpa(3, 1));
  feed_.Changed(kube::ChangeType::kDeleted, Hpa(3, 5000));
  EXPECT_THAT(noted_.gone, ElementsAre("shop/web"));
}

TEST_F(AutoscalerStoreTest, WhoeverChangesAnObjectEachTimeDoesNotFloodTheLog) {
  const auto hpa = [](const std::string& ns, int version) {
    return absl::StrCat(
        R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{)",
        R"("name":"web","namespace":")", ns, R"("},"spec":{"maxReplicas":"v)", version,
        std::string(5000, 'x'), R"("}})");
  };
  const TestLog log;
  for (int i = 0; i < 100; ++i) {
    feed_.Changed(kube::ChangeType::kModified, hpa("shop", i));
  }
  EXPECT_EQ(log.Count("shop/web is not decided: "), 16u);
  EXPECT_THAT(log.text(), SizeIs(Lt(16 * 600u)));
  feed_.Changed(kube::ChangeType::kModified, hpa("other", 0));
  EXPECT_EQ(log.Count("other/web is not decided: "), 1u);
  clock_.Advance(absl::Minutes(1));
  feed_.Changed(kube::ChangeType::kModified, hpa("shop", 99));
  EXPECT_EQ(log.Count("shop/web is not decided: "), 17u) << "this text was not logged before";
}

TEST_F(AutoscalerStoreTest, WhatNoLineIsLeftForIsLoggedWhenTheObjectIsSentAgain) {
  const auto hpa = [](const std::string& name, const std::string& until) {
    return absl::StrCat(
        R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{"name":")",
        name, R"(","namespace":"shop","annotations":{"flyball.dev/pod-selection":"Magic")", until,
        R"(}},"spec":{"maxReplicas":3,)",
        R"("scaleTargetRef":{"kind":"Deployment","name":"web","apiVersion":"apps/v1"}}})");
  };
  const TestLog log;
  for (int i = 0; i < 15; ++i) {
    feed_.Changed(kube::ChangeType::kAdded, hpa(absl::StrCat("other-", i), ""));
  }
  const std::string web = hpa("web", R"(,"flyball.dev/paused-until":"soon")");
  for (int i = 0; i < 2; ++i) feed_.Changed(kube::ChangeType::kModified, web);
  EXPECT_EQ(log.Count("shop/"), 16u);
  EXPECT_EQ(log.Count("shop/web "), 1u);
  clock_.Advance(absl::Minutes(1));
  for (int i = 0; i < 2; ++i) feed_.Changed(kube::ChangeType::kModified, web);
  EXPECT_EQ(log.Count("shop/web follows only the pauses of its schedules: "), 1u);
  EXPECT_EQ(log.Count("shop/web counts pods by their labels: "), 1u);
}

TEST_F(AutoscalerStoreTest, TheLinesOfManyNamespacesAreLimited) {
  constexpr int kNamespaces = 200;
  const TestLog log;
  for (int version = 0; version < 20; ++version) {
    for (int i = 0; i < kNamespaces; ++i) {
      feed_.Changed(
          kube::ChangeType::kModified,
          absl::StrCat(
              R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{)",
              R"("name":"web","namespace":"ns-)", i, R"("},"spec":{"maxReplicas":"v)", version,
              R"("}})"));
    }
  }
  EXPECT_EQ(log.Count("/web is not decided: "), 16u * kNamespaces);
}

// An object may have annotations of 256 KiB, and texts about them are kept as well.
TEST_F(AutoscalerStoreTest, LongAnnotationsAreNotKeptAndRepeatedOnlyInPart) {
  const std::string long_text(10000, 'x');
  feed_.Changed(
      kube::ChangeType::kAdded,
      absl::StrCat(
          R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{)",
          R"("name":"web","namespace":"shop","annotations":{"flyball.dev/mode":"act)", long_text,
          R"(","flyball.dev/else":")", long_text, R"(","flyball.dev/pod-selection":")", long_text,
          R"(","flyball.dev/schedules":"[{name: a, timezone: )", long_text,
          R"(, start: 0 1 * * *, end: 0 2 * * *, minReplicas: 2}]"}},"spec":{"maxReplicas":3,)",
          R"("scaleTargetRef":{"kind":"Deployment","name":"web","apiVersion":"apps/v1"}}})"));
  ASSERT_EQ(noted_.seen.size(), 1u);
  const Managed& managed = *noted_.seen[0];
  ASSERT_EQ(managed.autoscaler.annotations.size(), 1u);
  EXPECT_THAT(managed.autoscaler.annotations.at("flyball.dev/mode"), SizeIs(Lt(300)));
  EXPECT_THAT(managed.ignored, ElementsAre(AllOf(HasSubstr("unknown time zone"), SizeIs(Lt(300))),
                                           AllOf(HasSubstr("got xxx"), SizeIs(Lt(300)))));
}

TEST_F(AutoscalerStoreTest, AnHpaWithTooManyMetricsIsNotDecided) {
  const auto hpa = [](int metrics) {
    std::string list;
    for (int i = 0; i < metrics; ++i) {
      absl::StrAppend(&list, i == 0 ? "" : ",",
                      R"({"type":"ContainerResource","containerResource":{"name":"cpu",)",
                      R"("container":"c)", i,
                      R"(","target":{"type":"Utilization","averageUtilization":50}}})");
    }
    return absl::StrCat(
        R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{)",
        R"("name":"web","namespace":"shop"},"spec":{"maxReplicas":3,"metrics":[)", list,
        R"(],"scaleTargetRef":{"kind":"Deployment","name":"web","apiVersion":"apps/v1"}}})");
  };
  const TestLog log;
  feed_.Changed(kube::ChangeType::kAdded, hpa(256));
  feed_.Changed(kube::ChangeType::kModified, hpa(257));
  ASSERT_EQ(noted_.seen.size(), 2u);
  EXPECT_EQ(noted_.seen[0]->refused, "");
  EXPECT_EQ(noted_.seen[0]->autoscaler.metrics.size(), 256u);
  EXPECT_EQ(noted_.seen[1]->refused, "spec.metrics: must have at most 256 items, has 257");
  EXPECT_TRUE(noted_.seen[1]->autoscaler.metrics.empty()) << "nothing reads them";
  EXPECT_EQ(log.Count("shop/web is not decided: spec.metrics: "), 1u);
}

// The HPA controller writes the status each 15 s, and each list tells of all objects.
TEST_F(AutoscalerStoreTest, WhatIsWrongWithAnObjectIsLoggedOnceForEachText) {
  const auto hpa = [](int version, const std::string& selection) {
    return absl::StrCat(
        R"({"kind":"HorizontalPodAutoscaler","apiVersion":"autoscaling/v2","metadata":{)",
        R"("name":"web","namespace":"shop","resourceVersion":")", version,
        R"(","annotations":{"flyball.dev/paused-until":"soon","flyball.dev/pod-selection":")",
        selection, R"("}},"spec":{"maxReplicas":3,)",
        R"("scaleTargetRef":{"kind":"Deployment","name":"web","apiVersion":"apps/v1"}},)",
        R"("status":{"currentReplicas":)", version, "}}");
  };
  const TestLog log;
  feed_.ListStarted();
  feed_.Listed(hpa(1, "Magic"));
  feed_.ListEnded();
  feed_.Changed(kube::ChangeType::kModified, hpa(2, "Magic"));
  feed_.ListStarted();
  feed_.Listed(hpa(3, "Magic"));
  feed_.ListEnded();
  EXPECT_EQ(log.Count("shop/web follows only the pauses of its schedules: "), 1u);
  EXPECT_EQ(log.Count("shop/web counts pods by their labels: flyball.dev/pod-selection"), 1u);
  feed_.Changed(kube::ChangeType::kModified, hpa(4, "Luck"));
  feed_.Changed(kube::ChangeType::kModified, hpa(5, "Luck"));
  EXPECT_EQ(log.Count("counts pods by their labels: "), 2u);
  feed_.Changed(kube::ChangeType::kModified, Hpa(3, 5000));
  feed_.Changed(kube::ChangeType::kModified, Hpa(3, 5000));
  EXPECT_EQ(log.Count("shop/web is not decided: "), 1u);
  feed_.Changed(kube::ChangeType::kDeleted, Hpa(3, 5000));
  feed_.Changed(kube::ChangeType::kAdded, Hpa(3, 5000));
  EXPECT_EQ(log.Count("is not decided: "), 2u) << "another object of that name";
}

// Several autoscalers may select the same pods, so those of both kinds have to be known.
TEST(AutoscalerStore, IsReadyInANamespaceOnceBothKindsAreListedThere) {
  SimulatedClock clock(absl::UnixEpoch());
  Noted noted;
  AutoscalerStore store(clock, noted);
  kube::WatchHandler& shop_hpas = store.AddFeed(AutoscalerKind::kHpa, "shop");
  kube::WatchHandler& shop_own = store.AddFeed(AutoscalerKind::kOwn, "shop");
  kube::WatchHandler& gone_hpas = store.AddFeed(AutoscalerKind::kHpa, "gone");
  kube::WatchHandler& gone_own = store.AddFeed(AutoscalerKind::kOwn, "gone");
  shop_hpas.ListStarted();
  shop_hpas.ListEnded();
  gone_hpas.StatusChanged(absl::PermissionDeniedError("forbidden"));
  gone_own.StatusChanged(absl::PermissionDeniedError("forbidden"));
  EXPECT_TRUE(store.Waits());
  EXPECT_EQ(store.Ready("shop").message(), "Autoscalers of shop are not listed yet");
  shop_own.StatusChanged(absl::NotFoundError("no such kind"));
  EXPECT_FALSE(store.Waits());
  EXPECT_EQ(store.Ready("shop"), absl::OkStatus());
  EXPECT_EQ(store.Ready("gone").message(),
            "HorizontalPodAutoscalers of gone are not listed yet: forbidden");
  EXPECT_EQ(store.Ready(), store.Ready("gone"));
}

// Its objects are gone with it, and a server that then fails otherwise does not bring them back.
TEST_F(AutoscalerStoreTest, AKindThatIsNotDefinedStaysSoUntilItsWatchWorks) {
  kube::WatchHandler& own = store_.AddFeed(AutoscalerKind::kOwn, "");
  const AutoscalerKey key{.kind = AutoscalerKind::kOwn, .ns = "shop", .name = "web"};
  own.ListStarted();
  own.ListEnded();
  own.StatusChanged(absl::OkStatus());
  own.StatusChanged(absl::UnavailableError("connection refused"));
  EXPECT_EQ(store_.Unusable(key), "");  // it merely fails
  own.StatusChanged(absl::NotFoundError("no such kind"));
  EXPECT_THAT(store_.Unusable(key), HasSubstr("no such kind"));
  own.StatusChanged(absl::UnavailableError("connection refused"));
  EXPECT_THAT(store_.Unusable(key), HasSubstr("connection refused"));
  own.ListStarted();
  own.ListEnded();
  own.StatusChanged(absl::OkStatus());
  EXPECT_EQ(store_.Unusable(key), "");
}

}  // namespace
}  // namespace flyball::scaler
