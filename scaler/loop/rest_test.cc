// Autoscalers at rest, in a running loop: their rounds are decisions, and whatever changes ends the
// rest with the next decision.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/notification.h"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

// One that is content with 2 replicas.
class RestingWorld : public LoopWorld {
 public:
  RestingWorld() {
    ownership = &owner;
    metrics.SetExternal("queue", 20000);
    metrics.SetCpu(500);
    Add("web");
  }
  void Add(const std::string& name) {
    AddDeployment(name, 2);
    PutHpa(name, absl::StrCat(ExternalMetricJson("queue", "10"), ",", CpuMetricJson(50)));
  }
  // Until it was decided once more; the clock stands still while it is. False: it never was.
  bool Round(const std::string& name) {
    const int before = diary.count(name);
    for (int i = 0; i < 10; ++i) {  // it may still be busy with the last one
      clock.Advance(absl::Seconds(15));
      if (diary.AwaitCount(name, before + 1, absl::Seconds(1))) return true;
    }
    return false;
  }
  // False: it never rests.
  bool AwaitRest(const std::string& name) {
    if (diary.count(name) == 0 && !Next(name).has_value()) return false;
    for (int i = 0; i < 20 && !diary.rests(name); ++i) {
      if (!Round(name)) return false;
    }
    return diary.rests(name) && Round(name);
  }

  ChangingOwner owner{/*owns=*/true};
};

struct Row {
  const char* name;
  std::function<void(RestingWorld&)> change;
  std::function<bool(RestingWorld&)> seen;  // by the next decisions
};

class RestEnds : public testing::TestWithParam<Row> {};

TEST_P(RestEnds, AtTheNextDecision) {
  RestingWorld world;
  world.Start();
  ASSERT_TRUE(world.AwaitRest("web"));
  EXPECT_FALSE(GetParam().seen(world));
  GetParam().change(world);
  // What a watch brings may take a round to arrive.
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(15));
    return GetParam().seen(world);
  }));
}

bool Desires(RestingWorld& world, int32_t replicas) { return world.Replicas("web") == replicas; }
bool Says(RestingWorld& world, absl::string_view text) {
  return absl::StrContains(world.diary.last("web").decision.error, text);
}
bool IsAwake(RestingWorld& world) { return !world.diary.rests("web"); }

constexpr char kDeployment[] = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr char kHpa[] = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web";

INSTANTIATE_TEST_SUITE_P(
    Rest, RestEnds,
    testing::Values(
        Row{"AReading", [](RestingWorld& w) { w.metrics.SetExternal("queue", 40000); },
            [](RestingWorld& w) { return Desires(w, 4); }},
        Row{"AReadingOfPods", [](RestingWorld& w) { w.metrics.SetCpu(1000); },
            [](RestingWorld& w) { return Desires(w, 4); }},
        Row{"AMetricThatFails", [](RestingWorld& w) { w.metrics.SetExternal("queue", {}); },
            [](RestingWorld& w) {
              return !w.diary.last("web").decision.proposals[0].valid && Desires(w, 2);
            }},
        Row{"AnotherScale",
            [](RestingWorld& w) { w.api.Patch(kDeployment, R"({"spec":{"replicas":3}})"); },
            [](RestingWorld& w) { return w.diary.last("web").decision.current == 3; }},
        Row{"AnotherPod", [](RestingWorld& w) { w.AddPod("web", "web-new"); }, IsAwake},
        Row{"AnotherSpec",
            [](RestingWorld& w) { w.PutHpa("web", ExternalMetricJson("queue", "5")); },
            [](RestingWorld& w) { return Desires(w, 4); }},
        Row{"AnotherMode",
            [](RestingWorld& w) {
              w.api.Patch(kHpa, R"({"metadata":{"annotations":{"flyball.dev/mode":"shadow"}}})");
            },
            [](RestingWorld& w) { return w.diary.last("web").mode == Mode::kShadow; }},
        Row{"AStatusThatSomebodyElseWrote",
            [](RestingWorld& w) { w.api.Patch(kHpa, R"({"status":{"desiredReplicas":7}})"); },
            IsAwake},
        Row{"ARival",
            [](RestingWorld& w) {
              w.api.Put(
                  R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{
                  "namespace":"shop","name":"rival"},"spec":{"maxReplicas":9,"scaleTargetRef":{
                  "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[)" +
                  ExternalMetricJson("queue", "10") + "]}}");
            },
            [](RestingWorld& w) { return Says(w, "are controlled by multiple HPAs"); }},
        Row{"ItsEnd", [](RestingWorld& w) { w.api.Delete(kHpa); },
            [](RestingWorld& w) { return w.diary.forgotten("web") == 1; }},
        Row{"AnotherOwner", [](RestingWorld& w) { w.owner.Become(false); },
            [](RestingWorld& w) { return w.diary.forgotten("web") == 1; }},
        Row{"AWallClockThatIsSet",
            [](RestingWorld& w) { w.clock.JumpWall(w.clock.WallNow() + absl::Hours(1)); }, IsAwake},
        Row{"PodsThatAreNotKnown", [](RestingWorld& w) { w.api.SetDead(true); },
            [](RestingWorld& w) {
              return w.diary.last("web").decision.outcome != Outcome::kDecided;
            }}),
    [](const auto& info) { return info.param.name; });

TEST(Rest, AllOfANamespaceHaveOneRound) {
  RestingWorld world;
  const std::vector<std::string> names = {"web", "api", "shop"};
  world.Add("api");
  world.Add("shop");
  world.Start();
  for (const std::string& name : names) ASSERT_TRUE(world.AwaitRest(name)) << name;
  EXPECT_EQ(world.scaler->stats().resting, 3u);
  ASSERT_TRUE(LoopWorld::Await([&] {  // the last round is counted
    return world.scaler->stats().decisions == static_cast<uint64_t>(world.diary.total());
  }));
  const Scaler::Stats before = world.scaler->stats();
  const int asked = world.metrics.asked("external");
  std::vector<int> counts;
  for (const std::string& name : names) counts.push_back(world.diary.count(name));
  world.clock.Advance(absl::Seconds(15));
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(world.diary.AwaitCount(names[i], counts[i] + 1, absl::Seconds(10))) << names[i];
  }
  ASSERT_TRUE(
      LoopWorld::Await([&] { return world.scaler->stats().decisions == before.decisions + 3; }));
  EXPECT_EQ(world.scaler->stats().unchanged, before.unchanged + 3);
  EXPECT_EQ(world.metrics.asked("external"), asked + 1);
}

// Who comes later was asked for apart, and is brought together with the others; once.
TEST(Rest, WhoWasAskedForApartIsAskedForTogether) {
  RestingWorld world;
  const auto add = [&world](const std::string& name) {
    world.AddDeployment(name, 2);
    const std::string metric = ExternalMetricJson("queue", "10");
    const std::string selector = R"({"name":"queue","selector":{"matchLabels":{"of":")";
    world.PutHpa(name, absl::StrReplaceAll(metric, {{R"({"name":"queue")",
                                                     absl::StrCat(selector, name, R"("}})")}}));
  };
  add("api");
  world.Start();
  ASSERT_TRUE(world.AwaitRest("web"));
  ASSERT_TRUE(world.AwaitRest("api"));
  add("shop");
  ASSERT_TRUE(world.AwaitRest("shop"));
  const auto asked_in_a_round = [&world] {
    const int before = world.metrics.asked("external");
    EXPECT_TRUE(world.Round("shop"));
    return world.metrics.asked("external") - before;
  };
  EXPECT_GT(asked_in_a_round(), 1);
  EXPECT_TRUE(LoopWorld::Await([&] { return asked_in_a_round() == 1; }));
  for (int i = 0; i < 25; ++i) EXPECT_EQ(asked_in_a_round(), 1) << i;
}

// Quick rounds are asked for one after the other: one that hangs delays no other.
class RestHangs : public testing::TestWithParam<const char*> {};

TEST_P(RestHangs, OthersGoOn) {
  RestingWorld world;
  world.AddDeployment("api", 2);
  world.metrics.SetExternal("other", 20000);
  world.PutOwn("api", ExternalMetricJson("other", "10"), R"(,"cadence":{"interval":"14s"})");
  world.Start();
  ASSERT_TRUE(world.AwaitRest("web"));
  ASSERT_TRUE(world.AwaitRest("api"));
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(world.Next("web").has_value());  // they are known as quick
  const std::string hangs = GetParam();
  const std::string goes_on = hangs == "queue" ? "api" : "web";
  absl::Notification asked, go_on;
  world.metrics.OnAsk([&](const std::string& metric) {
    if (metric != hangs) return;
    if (!asked.HasBeenNotified()) asked.Notify();
    go_on.WaitForNotification();
  });
  const int before = world.diary.count(goes_on);
  world.clock.Advance(absl::Seconds(15));  // both are due
  asked.WaitForNotification();
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(20));
    return world.diary.count(goes_on) > before;
  }));
  world.metrics.OnAsk(nullptr);
  go_on.Notify();
}

INSTANTIATE_TEST_SUITE_P(Rest, RestHangs, testing::Values("queue", "other"));

// Who waits for nothing that hangs is decided at the next slot.
TEST(Rest, EndsWhereARoundTakesTooLong) {
  RestingWorld world;
  world.AddDeployment("api", 2);
  world.metrics.SetExternal("other", 20000);
  world.PutHpa("api", ExternalMetricJson("other", "10"));
  world.Start();
  ASSERT_TRUE(world.AwaitRest("web"));
  ASSERT_TRUE(world.AwaitRest("api"));
  absl::Notification asked, go_on;
  world.metrics.OnAsk([&](const std::string& metric) {
    if (metric != "queue") return;
    if (!asked.HasBeenNotified()) asked.Notify();
    go_on.WaitForNotification();
  });
  world.clock.Advance(absl::Seconds(15));
  asked.WaitForNotification();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(world.Round("api")) << i;
  world.metrics.OnAsk(nullptr);
  go_on.Notify();
  EXPECT_TRUE(world.AwaitRest("web"));
}

TEST(Rest, OthersGoOnResting) {
  RestingWorld world;
  world.Add("api");
  world.Start();
  ASSERT_TRUE(world.AwaitRest("web"));
  ASSERT_TRUE(world.AwaitRest("api"));
  world.api.Patch(kDeployment, R"({"spec":{"replicas":3}})");
  for (int i = 0; i < 20 && world.diary.last("web").decision.current != 3; ++i) {
    ASSERT_TRUE(world.Round("api"));
  }
  EXPECT_EQ(world.diary.last("web").decision.current, 3);
  EXPECT_TRUE(world.diary.rests("api"));
}

TEST(Rest, ComesBack) {
  RestingWorld world;
  world.Start();
  ASSERT_TRUE(world.AwaitRest("web"));
  world.metrics.SetExternal("queue", 40000);
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(15));
    return Desires(world, 4);
  }));
  for (int i = 2; i < 4; ++i) world.AddPod("web", absl::StrCat("web-", i));
  world.api.Patch(kDeployment, R"({"status":{"replicas":4}})");
  EXPECT_TRUE(world.AwaitRest("web"));
}

// What is due to be forgotten of the past is counted from the last round, not from the last time
// that something changed.
TEST(Rest, RenewsWhatWasRecommended) {
  RestingWorld world;
  world.Start();
  ASSERT_TRUE(world.AwaitRest("web"));
  for (int i = 0; i < 24; ++i) {  // 6 minutes
    ASSERT_TRUE(world.Round("web"));
  }
  ASSERT_TRUE(world.diary.rests("web"));
  // One replica would do: held at 2 by the window of 5 minutes, which begins with the last round.
  world.metrics.SetExternal("queue", 1000);
  world.metrics.SetCpu(10);
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(15));
    return world.diary.last("web").decision.recommendation == 1;
  }));
  EXPECT_EQ(world.diary.last("web").decision.desired, 2);
}

TEST(Rest, IsNotForOneThatActsOnNothing) {
  LoopWorld world(LoopWorld::InShadow());
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 20000);
  world.Start();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_FALSE(world.diary.rests("web"));
}

}  // namespace
}  // namespace flyball::scaler
