// Decisions whose writes have to wait.
#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

constexpr char kAtOnce[] = R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";

// The answer to the first try comes after a minute and is a conflict; meanwhile the load is back.
TEST(LateWrites, ARemovalThatWasDecidedLongAgoIsDecidedAnew) {
  LoopWorld world(LoopWorld::ActOnHpas());
  absl::Notification waits, go_on;
  world.api.OnRequest([&](const http::HttpCall& call) {
    if (call.method != "PUT" || waits.HasBeenNotified()) return;
    waits.Notify();
    go_on.WaitForNotification();
  });
  world.api.Inject({.method = "PUT",
                    .part = "/scale",
                    .status = 409,
                    .reason = "Conflict",
                    .message = "the object has been modified"});
  world.AddDeployment("web", 10);
  world.PutHpa("web", ExternalMetricJson("web", "10"), kAtOnce);
  world.metrics.SetExternal("web", 100'000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.metrics.SetExternal("web", 10'000);
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(1));
    return waits.HasBeenNotified();
  }));
  const int before = world.diary.count("web");
  world.metrics.SetExternal("web", 100'000);
  world.clock.Advance(absl::Minutes(1));
  go_on.Notify();
  ASSERT_TRUE(world.diary.AwaitCount("web", before + 2, absl::Seconds(30)));
  EXPECT_EQ(world.diary.at("web", before + 1).scale_error, "it was decided more than 15s ago");
  EXPECT_EQ(world.diary.at("web", before + 2).decision.desired, 10);
  EXPECT_EQ(world.Replicas("web"), 10);
}

}  // namespace
}  // namespace flyball::scaler
