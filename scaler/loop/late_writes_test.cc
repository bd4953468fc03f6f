// Decisions whose writes have to wait.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/notification.h"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

constexpr char kAtOnce[] = R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";

// The answer to the first try comes after a minute and is a conflict; meanwhile the load is back.
TEST(LateWrites, ARemovalThatWasDecidedLongAgoIsDecidedAnew) {
  absl::Notification waits, go_on;
  LoopWorld world(LoopWorld::ActOnHpas());
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

// Five autoscalers of one namespace share the only thread that writes when another one's is decided.
TEST(LateWrites, NamespacesTakeTurns) {
  absl::Notification waits, go_on;
  absl::Mutex mutex;
  std::vector<std::string> written;
  ScalerOptions options = LoopWorld::ActOnHpas();
  options.write_threads = 1;
  LoopWorld world(options);
  world.api.OnRequest([&](const http::HttpCall& call) {
    if (call.method != "PUT") return;
    {
      absl::MutexLock lock(&mutex);
      written.push_back(call.target);
    }
    if (!waits.HasBeenNotified()) waits.Notify();
    go_on.WaitForNotification();
  });
  const auto await_decisions = [&](uint64_t count) {
    return LoopWorld::Await([&] {
      world.clock.Advance(absl::Milliseconds(100));
      return world.scaler->stats().decisions >= count;
    });
  };
  world.metrics.SetExternal("load", 50'000);
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    world.AddDeployment(name, 1);
    world.PutHpa(name, ExternalMetricJson("load", "10"));
  }
  world.Start();
  ASSERT_TRUE(await_decisions(5));
  ASSERT_TRUE(waits.WaitForNotificationWithTimeout(absl::Seconds(30)));
  world.AddDeployment("quiet", 1, "bank");
  world.PutHpa("quiet", ExternalMetricJson("load", "10"), "", "{}", "bank");
  ASSERT_TRUE(await_decisions(6));
  go_on.Notify();
  ASSERT_TRUE(world.diary.AwaitCount("quiet", 1, absl::Seconds(30)));
  absl::MutexLock lock(&mutex);
  ASSERT_FALSE(written.empty());
  ASSERT_TRUE(absl::StrContains(written[0], "/shop/")) << written[0];
  const auto of_bank = std::find_if(written.begin(), written.end(), [](const std::string& path) {
    return absl::StrContains(path, "/bank/");
  });
  ASSERT_NE(of_bank, written.end());
  EXPECT_LE(of_bank - written.begin(), 2) << absl::StrJoin(written, " ");
}

}  // namespace
}  // namespace flyball::scaler
