// The scaler goes by the version that the API server says it is, also after an upgrade.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_log.h"
#include "scaler/math/recording.h"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kNoWindow[] =
    R"(,"minReplicas":0,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";

ScalerOptions Auto() {
  ScalerOptions options = LoopWorld::ActOnHpas();
  options.dialect = DialectChoice();
  return options;
}

TEST(ScalerDialect, NothingIsDecidedBeforeTheVersionIsKnown) {
  LoopWorld world(Auto());
  world.AddDeployment("web", 2);
  world.metrics.SetExternal("queue", 80'000);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.Start();
  ASSERT_TRUE(world.api.AwaitRequests("GET", "/version", 1));
  EXPECT_THAT(std::string(world.scaler->Ready().message()), HasSubstr("version is not known"));
  for (int i = 0; i < 40; ++i) world.clock.Advance(absl::Seconds(1));
  EXPECT_EQ(world.diary.count("web"), 0);
  world.api.SetVersion("37");
  ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 4);
}

TEST(ScalerDialect, AVersionThatCannotBeReadIsToldOnce) {
  const TestLog log;
  {
    LoopWorld world(Auto());
    world.Start();
    ASSERT_TRUE(LoopWorld::Await([&] {
      world.clock.Advance(absl::Seconds(1));
      return world.api.CountRequests("GET", "/version") >= 5;
    }));
  }
  EXPECT_EQ(log.Count("the cluster's version is not known"), 1u);
}

TEST(ScalerDialect, ATargetThatAPersonPutToSleepStaysAsleepSince136) {
  for (const bool wakes : {true, false}) {
    LoopWorld world(Auto());
    world.api.SetVersion(wakes ? "35" : "37");
    world.AddDeployment("web", 0);
    world.metrics.SetExternal("queue", 35'000);
    world.PutHpa("web", ExternalMetricJson("queue", "10"), kNoWindow);
    world.Start();
    ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.Replicas("web"), wakes ? 4 : 0);
  }
}

// The status then has a desired count of zero that no metric asked for: nothing has been decided
// yet, or the person had switched the target off once before.
TEST(ScalerDialect, ATargetThatAPersonPutToSleepWhileTheMetricFailsStaysAsleep) {
  for (const std::vector<int>& counts : {std::vector<int>{3, 0}, std::vector<int>{0, 3, 0}}) {
    LoopWorld world(Auto());
    world.api.SetVersion("37");
    world.AddDeployment("web", counts[0]);
    world.PutHpa("web", ExternalMetricJson("queue", "10"), kNoWindow);
    world.Start();
    for (const int count : counts) {
      world.AddDeployment("web", count);
      ASSERT_TRUE(LoopWorld::Await(
          [&] { return world.Next("web") && world.diary.last("web").decision.current == count; }));
    }
    world.metrics.SetExternal("queue", 35'000);
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.Replicas("web"), 0) << "after " << counts[0];
    EXPECT_THAT(world.Hpa("web"), Not(HasSubstr("ScaledToZero"))) << "after " << counts[0];
  }
}

// What a controller before 1.36 has put to sleep wakes, whether it went on at zero replicas or its
// last decision was the one that wrote zero.
TEST(ScalerDialect, ATargetThatAnOlderControllerPutToSleepWakes) {
  struct Row {
    int current;
    std::string able;
    bool wakes;
  };
  for (const Row& row : {Row{0, "ReadyForNewScale", true}, Row{0, "SucceededGetScale", true},
                         Row{2, "SucceededRescale", true}, Row{2, "SucceededGetScale", false}}) {
    LoopWorld world(Auto());
    world.api.SetVersion("37");
    world.AddDeployment("web", 0);
    world.metrics.SetExternal("queue", 35'000);
    world.api.Put(absl::StrCat(
        R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{)",
        R"("namespace":"shop","name":"web"},"spec":{"minReplicas":0,"maxReplicas":20,)",
        R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[)",
        ExternalMetricJson("queue", "10"), R"(]},"status":{"currentReplicas":)", row.current,
        R"(,"desiredReplicas":0,"conditions":[{"type":"AbleToScale","status":"True","reason":")",
        row.able, R"("},{"type":"ScalingActive","status":"True","reason":"ValidMetricFound"}]}})"));
    world.Start();
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.Replicas("web"), row.wakes ? 4 : 0) << row.current << " " << row.able;
  }
}

// An admission rule refuses to let it sleep, and a person puts it to sleep by other means.
TEST(ScalerDialect, AWriteThatIsRefusedHasPutNothingToSleep) {
  LoopWorld world(Auto());
  world.api.SetVersion("37");
  world.AddDeployment("web", 2);
  world.metrics.SetExternal("queue", 20'000);
  world.PutHpa("web", ExternalMetricJson("queue", "10"), kNoWindow);
  world.api.Inject({.method = "PUT", .part = "/scale", .status = 403});
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.metrics.SetExternal("queue", 0);
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_EQ(world.api.faults(), 1);
  ASSERT_EQ(world.Replicas("web"), 2);
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                  R"({"spec":{"replicas":0},"status":{"replicas":0}})");
  world.metrics.SetExternal("queue", 35'000);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 0);
}

TEST(ScalerDialect, ToleranceOfABehaviorCountsSince135) {
  for (const bool counts : {false, true}) {
    LoopWorld world(Auto());
    world.api.SetVersion(counts ? "35" : "34");
    world.AddDeployment("web", 10);
    world.metrics.SetExternal("queue", 106'000);
    world.PutHpa("web", ExternalMetricJson("queue", "10"),
                 R"(,"behavior":{"scaleUp":{"tolerance":"10m"}})");
    world.Start();
    ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.Replicas("web"), counts ? 11 : 10);
  }
}

// The condition shows that the gate is on: a target that sleeps by it wakes, from the first
// decision on.
TEST(ScalerDialect, AGateThatShowsIsSeen) {
  for (const bool shows : {false, true}) {
    ScalerOptions options = Auto();
    options.mode = Mode::kShadow;  // it is the stock controller's gate
    LoopWorld world(options);
    world.api.SetVersion("36");
    world.AddDeployment("web", 0);
    world.metrics.SetExternal("queue", 35'000);
    world.api.Put(absl::StrCat(
        R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{)",
        R"("namespace":"shop","name":"web"},"spec":{"minReplicas":0,"maxReplicas":20,)",
        R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[)",
        ExternalMetricJson("queue", "10"), R"(]},"status":{"conditions":[{"type":")",
        shows ? "ScaledToZero" : "ScalingActive", R"(","status":"True"}]}})"));
    world.Start();
    ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.diary.last("web").decision.rescale, shows);
  }
}

// So does a minimum of 0 where nobody else decides: what was put to sleep is marked, and wakes.
TEST(ScalerDialect, AMinimumOfZeroShowsTheGateWhereWeAct) {
  LoopWorld world(Auto());
  world.api.SetVersion("36");
  world.AddDeployment("web", 2);
  world.metrics.SetExternal("queue", 0);
  world.PutHpa("web", ExternalMetricJson("queue", "10"), kNoWindow);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 0);
  EXPECT_TRUE(ConditionIsTrue(world.diary.last("web").decision.status, kScaledToZero));
  world.metrics.SetExternal("queue", 35'000);
  for (int i = 0; i < 3 && world.Replicas("web") == 0; ++i)
    ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 4);
}

// Also when it is the first of its cluster, long after the last look at the version: a target that
// was put to sleep without the mark would never wake.
TEST(ScalerDialect, TheFirstMinimumOfZeroShowsTheGateAtOnce) {
  LoopWorld world(Auto());
  world.api.SetVersion("36");
  world.AddDeployment("web", 2);
  world.metrics.SetExternal("queue", 20'000);
  const std::string metric = ExternalMetricJson("queue", "10");
  world.PutHpa("web", metric);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  const int looks = world.api.CountRequests("GET", "/version");
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(1));
    return world.api.CountRequests("GET", "/version") > looks;
  }));
  world.metrics.SetExternal("queue", 0);
  world.PutHpa("web", metric, kNoWindow);
  ASSERT_TRUE(LoopWorld::Await([&] { return world.Next("web") && world.Replicas("web") == 0; }));
  EXPECT_EQ(world.api.CountRequests("GET", "/version"), looks + 1) << "it is too late to tell";
  EXPECT_TRUE(ConditionIsTrue(world.diary.last("web").decision.status, kScaledToZero));
  world.metrics.SetExternal("queue", 35'000);
  for (int i = 0; i < 5 && world.Replicas("web") == 0; ++i) {
    ASSERT_TRUE(world.Next("web").has_value());
  }
  EXPECT_EQ(world.Replicas("web"), 4);
}

// A cluster that is upgraded while a target sleeps.
class UpgradedWorld : public LoopWorld {
 public:
  UpgradedWorld() : LoopWorld(Auto()) {
    AddDeployment("web", 2);
    metrics.SetExternal("queue", 0);
    PutHpa("web", ExternalMetricJson("queue", "10"), kNoWindow);
  }
  void FallAsleep(const std::string& minor) {
    api.SetVersion(minor);
    Start();
    ASSERT_TRUE(Next("web").has_value());
    EXPECT_EQ(Replicas("web"), 0);
  }
  // Until two decisions were made by it.
  void Upgrade(const std::string& minor) {
    api.SetVersion(minor);
    const int asked = api.CountRequests("GET", "/version");
    while (api.CountRequests("GET", "/version") == asked) {
      ASSERT_TRUE(Next("web").has_value());
    }
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(Next("web").has_value());
  }
  void WakeUp() {
    metrics.SetExternal("queue", 35'000);
    for (int i = 0; i < 3 && Replicas("web") == 0; ++i) ASSERT_TRUE(Next("web").has_value());
    EXPECT_EQ(Replicas("web"), 4);
  }
};

// What slept before the upgrade is marked, so that it wakes after it.
TEST(ScalerDialect, AnUpgradeUnderARunningScaler) {
  UpgradedWorld world;
  world.FallAsleep("34");
  ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_THAT(world.Hpa("web"), Not(HasSubstr("ScaledToZero")));

  world.Upgrade("37");
  EXPECT_EQ(world.Replicas("web"), 0);
  EXPECT_TRUE(ConditionIsTrue(world.diary.last("web").decision.status, kScaledToZero));

  world.WakeUp();
  EXPECT_FALSE(ConditionIsTrue(world.diary.last("web").decision.status, kScaledToZero));
  EXPECT_TRUE(world.diary.last("web").decision.status.observed_generation.has_value());
}

// The same while what it reads fails.
TEST(ScalerDialect, AnUpgradeWhileTheMetricFails) {
  UpgradedWorld world;
  world.FallAsleep("35");
  world.metrics.SetExternal("queue", {});
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_FALSE(ConditionIsTrue(world.diary.last("web").decision.status, kScalingActive));

  world.Upgrade("37");
  world.WakeUp();
}

}  // namespace
}  // namespace flyball::scaler
