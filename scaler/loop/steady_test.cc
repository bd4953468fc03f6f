// Steady autoscalers in a running loop: their rounds count as decisions, and whatever changes is
// decided at once.
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
class SteadyWorld : public LoopWorld {
 public:
  SteadyWorld() {
    ownership = &owner;
    metrics.SetExternal("queue", 20000);
    metrics.SetCpu(500);
    Add("web");
  }
  ~SteadyWorld() { scaler.reset(); }  // it tells `owner` of its end
  void Add(const std::string& name) {
    AddDeployment(name, 2);
    PutHpa(name, absl::StrCat(ExternalMetricJson("queue", "10"), ",", CpuMetricJson(50)));
  }
  // Until it was decided once more; the clock stands still while it is. False: it never was.
  bool Round(const std::string& name) {
    const int before = diary.count(name);
    for (int i = 0; i < 10; ++i) {
      // Who is still busy with the last round has none now. A question that hangs is not waited for.
      Await([&] { return scaler->stats().queue == 0; }, absl::Milliseconds(100));
      clock.Advance(absl::Seconds(15));
      if (diary.AwaitCount(name, before + 1, absl::Seconds(1))) return true;
    }
    return false;
  }
  // False: it never is.
  bool AwaitSteady(const std::string& name) {
    if (diary.count(name) == 0 && !Next(name).has_value()) return false;
    // Its status has to be written first, which takes as long as it takes.
    const auto steady = [&] { return diary.steady(name); };
    if (!Await([&] { return steady() || (Round(name) && steady()); })) return false;
    // The watch brings that status back, which is decided on once more; and it tells of this change
    // after that.
    const int before = diary.decided(name);
    Touch(name);
    if (!Await([&] { return Round(name) && diary.decided(name) > before && steady(); }) ||
        !Round(name)) {
      return false;
    }
    decided_before = diary.decided(name);
    return true;
  }
  // Changes an HPA in nothing that counts. The watch tells of it after all that was written before.
  void Touch(const std::string& name) {
    api.Patch(absl::StrCat("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/", name),
              absl::StrCat(R"({"metadata":{"labels":{"seen":"n)", ++touched_, R"("}}})"));
  }
  // Once. From then on the question of "queue" hangs, until `go_on`. False: nobody asks it.
  bool AwaitHanging() {
    metrics.OnAsk([this](const std::string& metric) {
      if (metric != "queue") return;
      if (!asked_.HasBeenNotified()) asked_.Notify();
      go_on.WaitForNotification();
    });
    return Await([this] {  // it may still be busy with the last round
      clock.Advance(absl::Seconds(15));
      return asked_.HasBeenNotified();
    });
  }

  absl::Notification go_on;
  ChangingOwner owner{/*owns=*/true};
  int decided_before = 0;

 private:
  absl::Notification asked_;
  int touched_ = 0;
};

struct Row {
  const char* name;
  std::function<void(SteadyWorld&)> change;
  std::function<bool(SteadyWorld&)> seen;  // by the next decisions
};

class SteadyEnds : public testing::TestWithParam<Row> {};

TEST_P(SteadyEnds, AtTheNextDecision) {
  SteadyWorld world;
  world.Start();
  ASSERT_TRUE(world.AwaitSteady("web"));
  EXPECT_FALSE(GetParam().seen(world));
  GetParam().change(world);
  // What a watch brings may take a round to arrive.
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(15));
    return GetParam().seen(world);
  }));
}

TEST_P(SteadyEnds, AfterTheRoundThatIsUnderWay) {
  SteadyWorld world;
  world.Start();
  ASSERT_TRUE(world.AwaitSteady("web"));
  ASSERT_TRUE(world.AwaitHanging());
  GetParam().change(world);
  world.go_on.Notify();
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(15));
    return GetParam().seen(world);
  }));
  world.metrics.OnAsk(nullptr);
}

bool Desires(SteadyWorld& world, int32_t replicas) { return world.Replicas("web") == replicas; }
bool Says(SteadyWorld& world, absl::string_view text) {
  return absl::StrContains(world.diary.last("web").decision.error, text);
}
bool IsDecided(SteadyWorld& world) { return world.diary.decided("web") > world.decided_before; }

constexpr char kDeployment[] = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr char kHpaPath[] = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web";

INSTANTIATE_TEST_SUITE_P(
    Steady, SteadyEnds,
    testing::Values(
        Row{"AReading", [](SteadyWorld& w) { w.metrics.SetExternal("queue", 40000); },
            [](SteadyWorld& w) { return Desires(w, 4); }},
        Row{"AReadingOfPods", [](SteadyWorld& w) { w.metrics.SetCpu(1000); },
            [](SteadyWorld& w) { return Desires(w, 4); }},
        Row{"AMetricThatFails", [](SteadyWorld& w) { w.metrics.SetExternal("queue", {}); },
            [](SteadyWorld& w) {
              return !w.diary.last("web").decision.proposals[0].valid && Desires(w, 2);
            }},
        Row{"AnotherScale",
            [](SteadyWorld& w) { w.api.Patch(kDeployment, R"({"spec":{"replicas":3}})"); },
            [](SteadyWorld& w) { return w.diary.last("web").decision.current == 3; }},
        Row{"AnotherPod", [](SteadyWorld& w) { w.AddPod("web", "web-new"); }, IsDecided},
        Row{"AnotherSpec",
            [](SteadyWorld& w) { w.PutHpa("web", ExternalMetricJson("queue", "5")); },
            [](SteadyWorld& w) { return Desires(w, 4); }},
        Row{"AnotherMode",
            [](SteadyWorld& w) {
              w.api.Patch(kHpaPath,
                          R"({"metadata":{"annotations":{"flyball.dev/mode":"shadow"}}})");
            },
            [](SteadyWorld& w) { return w.diary.last("web").mode == Mode::kShadow; }},
        Row{"AStatusThatSomebodyElseWrote",
            [](SteadyWorld& w) { w.api.Patch(kHpaPath, R"({"status":{"desiredReplicas":7}})"); },
            IsDecided},
        Row{"ARival",
            [](SteadyWorld& w) {
              w.api.Put(
                  R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{
                  "namespace":"shop","name":"rival"},"spec":{"maxReplicas":9,"scaleTargetRef":{
                  "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[)" +
                  ExternalMetricJson("queue", "10") + "]}}");
            },
            [](SteadyWorld& w) { return Says(w, "are controlled by multiple HPAs"); }},
        Row{"ItsEnd", [](SteadyWorld& w) { w.api.Delete(kHpaPath); },
            [](SteadyWorld& w) { return w.diary.forgotten("web") == 1; }},
        Row{"AnotherOwner", [](SteadyWorld& w) { w.owner.Become(false); },
            [](SteadyWorld& w) { return w.diary.forgotten("web") == 1; }},
        Row{"AWallClockThatIsSet",
            [](SteadyWorld& w) { w.clock.JumpWall(w.clock.WallNow() + absl::Hours(1)); },
            IsDecided},
        Row{"PodsThatAreNotKnown", [](SteadyWorld& w) { w.api.SetDead(true); },
            [](SteadyWorld& w) {
              return w.diary.last("web").decision.outcome != Outcome::kDecided;
            }}),
    [](const auto& info) { return info.param.name; });

TEST(Steady, WhoReadsTheSameHasOneRound) {
  SteadyWorld world;
  const std::vector<std::string> names = {"web", "api", "shop"};
  world.Add("api");
  world.Add("shop");
  world.Start();
  for (const std::string& name : names) ASSERT_TRUE(world.AwaitSteady(name)) << name;
  EXPECT_EQ(world.scaler->stats().steady, 3u);
  ASSERT_TRUE(LoopWorld::Await([&] {  // the last round is counted, and over
    const Scaler::Stats stats = world.scaler->stats();
    return stats.decisions == static_cast<uint64_t>(world.diary.total()) && stats.queue == 0;
  }));
  const Scaler::Stats before = world.scaler->stats();
  const int asked = world.metrics.asked("external");
  std::vector<int> counts;
  for (const std::string& name : names) counts.push_back(world.diary.count(name));
  world.clock.Advance(absl::Seconds(15));
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(world.diary.AwaitCount(names[i], counts[i] + 1, absl::Seconds(30))) << names[i];
  }
  EXPECT_TRUE(LoopWorld::Await([&] {
    const Scaler::Stats now = world.scaler->stats();
    return now.decisions == before.decisions + 3 && now.unchanged == before.unchanged + 3;
  }));
  EXPECT_EQ(world.metrics.asked("external"), asked + 1);
}

// All selectors of an external metric are one question, whenever they came.
TEST(Steady, SelectorsOfOneMetricAreAskedForTogether) {
  SteadyWorld world;
  const auto add = [&world](const std::string& name) {
    world.AddDeployment(name, 2);
    const std::string metric = ExternalMetricJson("queue", "10");
    const std::string selector = R"({"name":"queue","selector":{"matchLabels":{"of":")";
    world.PutHpa(name, absl::StrReplaceAll(metric, {{R"({"name":"queue")",
                                                     absl::StrCat(selector, name, R"("}})")}}));
  };
  add("api");
  world.Start();
  ASSERT_TRUE(world.AwaitSteady("web"));
  ASSERT_TRUE(world.AwaitSteady("api"));
  add("shop");
  ASSERT_TRUE(world.AwaitSteady("shop"));
  for (int i = 0; i < 5; ++i) {
    const int before = world.metrics.asked("external");
    ASSERT_TRUE(world.Round("shop"));
    EXPECT_EQ(world.metrics.asked("external"), before + 1) << i;
  }
}

// A round waits only for what its autoscalers read themselves.
TEST(Steady, AQuestionThatHangsDelaysNobodyElse) {
  SteadyWorld world;
  world.AddDeployment("api", 2);
  world.metrics.SetExternal("other", 20000);
  world.PutHpa("api", ExternalMetricJson("other", "10"));
  world.Start();
  ASSERT_TRUE(world.AwaitSteady("web"));
  ASSERT_TRUE(world.AwaitSteady("api"));
  ASSERT_TRUE(world.AwaitHanging());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(world.Round("api")) << i;
  world.metrics.OnAsk(nullptr);
  world.go_on.Notify();
  EXPECT_TRUE(world.AwaitSteady("web"));
}

// What the scaler costs when nothing changes, and when one thing does, whichever way it comes about.
class ManySteady : public testing::Test {
 protected:
  static constexpr int kMany = 100;
  static std::string Name(int i) { return absl::StrCat("app-", i); }

  // All read the cpu of their pods and the queue; the last one reads another queue, too.
  ManySteady() {
    world_.metrics.SetExternal("other", 20000);
    for (int i = 0; i < kMany; ++i) {
      world_.AddDeployment(Name(i), 2);
      world_.PutHpa(Name(i),
                    absl::StrCat(ExternalMetricJson(i + 1 < kMany ? "queue" : "other", "10"), ",",
                                 CpuMetricJson(50)));
    }
    world_.Start();
    // What was written of the first decisions comes back with the watch, and is decided on; and it
    // is not written at once. So rounds go by until nobody was decided between two changes of an
    // object, of which the watch tells after all that was written before.
    EXPECT_TRUE(SteadyWorld::Await([this] {
      const int before = Decided();
      const int decided = world_.diary.decided("web");
      world_.Touch("web");
      return RoundsUntil([&] { return world_.diary.decided("web") > decided; }) &&
             RoundsUntil([this] { return world_.scaler->stats().steady == kMany + 1u; }) &&
             Decided() == before && before > 0;
    }));
  }
  bool RoundsUntil(const std::function<bool()>& condition) {
    return SteadyWorld::Await([&] {
      world_.clock.Advance(absl::Seconds(15));
      // Before the first decision there may be nobody who takes what is due.
      SteadyWorld::Await([this] { return world_.scaler->stats().queue == 0; },
                         world_.diary.total() > 0 ? absl::Seconds(30) : absl::Milliseconds(100));
      return condition();
    });
  }
  // Until all were decided once more, and that was counted.
  void Round() {
    const int before = world_.diary.total();
    world_.clock.Advance(absl::Seconds(15));
    EXPECT_TRUE(SteadyWorld::Await([&] {
      const int total = world_.diary.total();
      const Scaler::Stats stats = world_.scaler->stats();
      return total >= before + kMany + 1 && stats.decisions == static_cast<uint64_t>(total) &&
             stats.queue == 0;
    }));
  }
  int Decided() const {
    int decided = 0;
    for (int i = 0; i < kMany; ++i) decided += world_.diary.decided(Name(i));
    return decided;
  }

  SteadyWorld world_;
};

TEST_F(ManySteady, AskOncePerMetricAndWriteNothing) {
  const int decided = Decided();
  const Scaler::Stats before = world_.scaler->stats();
  const int external = world_.metrics.asked("external"), cpu = world_.metrics.asked("resource");
  constexpr int kRounds = 4;
  for (int i = 0; i < kRounds; ++i) Round();
  EXPECT_EQ(world_.metrics.asked("external"), external + 2 * kRounds);
  EXPECT_EQ(world_.metrics.asked("resource"), cpu + kRounds);
  EXPECT_EQ(Decided(), decided);
  const Scaler::Stats after = world_.scaler->stats();
  EXPECT_EQ(after.unchanged - before.unchanged, kRounds * (kMany + 1u));
  EXPECT_EQ(after.api_calls, before.api_calls);
}

TEST_F(ManySteady, OneSampleThatChangesIsOneDecision) {
  const int decided = Decided();
  world_.metrics.SetExternal("other", 40000);
  Round();
  EXPECT_EQ(Decided(), decided + 1);
  EXPECT_TRUE(SteadyWorld::Await([&] { return world_.Replicas(Name(kMany - 1)) == 4; }));
}

TEST(Steady, OthersStaySteady) {
  SteadyWorld world;
  world.Add("api");
  world.Start();
  ASSERT_TRUE(world.AwaitSteady("web"));
  ASSERT_TRUE(world.AwaitSteady("api"));
  world.api.Patch(kDeployment, R"({"spec":{"replicas":3}})");
  EXPECT_TRUE(LoopWorld::Await(
      [&] { return world.Round("api") && world.diary.last("web").decision.current == 3; }));
  EXPECT_TRUE(world.diary.steady("api"));
}

TEST(Steady, ComesBack) {
  SteadyWorld world;
  world.Start();
  ASSERT_TRUE(world.AwaitSteady("web"));
  world.metrics.SetExternal("queue", 40000);
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(15));
    return Desires(world, 4);
  }));
  for (int i = 2; i < 4; ++i) world.AddPod("web", absl::StrCat("web-", i));
  world.api.Patch(kDeployment, R"({"status":{"replicas":4}})");
  EXPECT_TRUE(world.AwaitSteady("web"));
}

TEST(Steady, WhoComesBackJoinsTheOthers) {
  SteadyWorld world;
  world.Add("api");
  world.Add("shop");
  world.Start();
  for (const char* name : {"web", "api", "shop"}) ASSERT_TRUE(world.AwaitSteady(name)) << name;
  ASSERT_TRUE(
      LoopWorld::Await([&] { return world.Round("web") && world.diary.last_round() == 3; }));
  world.decided_before = world.diary.decided("web");
  world.AddPod("web", "web-new");
  ASSERT_TRUE(LoopWorld::Await([&] { return world.Round("web") && IsDecided(world); }));
  ASSERT_TRUE(world.AwaitSteady("web"));
  EXPECT_TRUE(
      LoopWorld::Await([&] { return world.Round("web") && world.diary.last_round() == 3; }));
}

// What is due to be forgotten of the past is counted from the last round, not from the last time
// that something changed.
TEST(Steady, RenewsWhatWasRecommended) {
  SteadyWorld world;
  world.Start();
  ASSERT_TRUE(world.AwaitSteady("web"));
  for (int i = 0; i < 24; ++i) {  // 6 minutes
    ASSERT_TRUE(world.Round("web"));
  }
  ASSERT_TRUE(world.diary.steady("web"));
  // One replica would do: held at 2 by the window of 5 minutes, which begins with the last round.
  world.metrics.SetExternal("queue", 1000);
  world.metrics.SetCpu(10);
  ASSERT_TRUE(LoopWorld::Await(
      [&] { return world.Round("web") && world.diary.last("web").decision.recommendation == 1; }));
  EXPECT_EQ(world.diary.last("web").decision.desired, 2);
}

TEST(Steady, IsNotForOneThatActsOnNothing) {
  LoopWorld world(LoopWorld::InShadow());
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 20000);
  world.Start();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_FALSE(world.diary.steady("web"));
}

}  // namespace
}  // namespace flyball::scaler
