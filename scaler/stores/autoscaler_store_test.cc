#include "scaler/stores/autoscaler_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"

namespace flyball::scaler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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

}  // namespace
}  // namespace flyball::scaler
