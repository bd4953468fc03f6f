// Decisions whose writes have to wait.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/match.h"
#include "absl/synchronization/notification.h"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

constexpr char kAtOnce[] = R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";

// There is one thread for writes, and the write for `slow` keeps it for a minute.
TEST(LateWrites, ARemovalThatWasDecidedLongAgoIsDecidedAnew) {
  ScalerOptions options = LoopWorld::ActOnHpas();
  options.write_threads = 1;
  absl::Notification waits, go_on;
  LoopWorld world(options);
  world.api.OnRequest([&](const http::HttpCall& call) {
    if (call.method != "PUT" || !absl::StrContains(call.target, "/slow/scale")) return;
    if (!waits.HasBeenNotified()) waits.Notify();
    go_on.WaitForNotification();
  });
  for (const std::string name : {"slow", "web"}) {
    world.AddDeployment(name, 10);
    world.PutHpa(name, ExternalMetricJson(name, "10"), kAtOnce);
    world.metrics.SetExternal(name, 100'000);
  }
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.metrics.SetExternal("slow", 150'000);
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(1));
    return waits.HasBeenNotified();
  }));
  ASSERT_TRUE(world.Next("web").has_value());
  const uint64_t decisions = world.scaler->stats().decisions;
  world.metrics.SetExternal("web", 10'000);
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(1));
    return world.scaler->stats().decisions > decisions;
  }));
  world.metrics.SetExternal("web", 100'000);
  const int before = world.diary.count("web");
  world.clock.Advance(absl::Minutes(1));
  go_on.Notify();
  ASSERT_TRUE(world.diary.AwaitCount("web", before + 2, absl::Seconds(10)));
  EXPECT_EQ(world.diary.at("web", before + 1).scale_error, "it was decided more than 15s ago");
  EXPECT_EQ(world.diary.at("web", before + 2).decision.desired, 10);
  EXPECT_EQ(world.Replicas("web"), 10);
}

}  // namespace
}  // namespace flyball::scaler
