#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "scaler/loop/scaler.h"
#include "scaler/testing/test_world.h"
#include "scaler/triggers/types/test_external_peer.h"
#include "scaler/views/limiting_reason.h"

namespace flyball::scaler {
namespace {

ScalerOptions Act() {
  ScalerOptions options;
  options.mode = Mode::kAct;  // of HPAs nothing is written without act_on_hpas
  return options;
}

// As many replicas as there are two pods of app=job for; decided each second.
constexpr char kJobs[] =
    R"(,"minReplicas":0,"cadence":{"interval":"1s"},"cooldownPeriod":30,"triggers":[{"type":)"
    R"("kubernetes-workload","metadata":{"podSelector":"app=job","value":"2"}}])";

TEST(OwnKind, IsActedOnWhereHpasAreNot) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.AddDeployment("stock", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"));
  world.PutHpa("stock", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(LoopWorld::Await([&] { return world.diary.count("stock") > 0; }));
  EXPECT_EQ(world.Replicas("web"), 4);
  EXPECT_EQ(world.Replicas("stock"), 2);
  EXPECT_EQ(world.diary.last("stock").mode, Mode::kShadow);
  EXPECT_TRUE(LoopWorld::Await([&] {
    return absl::StrContains(world.Own("web"), R"("observedGeneration":1)");
  })) << world.Own("web");
}

// It opens two minutes after the start, in which the load asks for 4, and closes two minutes later.
TEST(OwnKind, ItsSchedulesMoveItsBounds) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"),
               R"(,"cadence":{"interval":"10s"},"schedules":[{"name":"a","start":"2 0 * * *",)"
               R"("end":"4 0 * * *","minReplicas":6}])");
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  const absl::Time opens = kLoopStart + absl::Minutes(2);
  while (world.clock.WallNow() < opens - absl::Seconds(15)) {
    ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_LE(world.Replicas("web"), 4);
  }
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 6;
  })) << world.Own("web");
  EXPECT_GE(world.clock.WallNow(), opens);
  EXPECT_LE(world.clock.WallNow(), opens + absl::Seconds(40));
  EXPECT_EQ(world.diary.last("web").decision.min_replicas, 6);
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.diary.last("web").decision.min_replicas == 1;
  })) << world.Own("web");
  EXPECT_GE(world.clock.WallNow(), opens + absl::Minutes(2));
}

// Time passes; what is due meanwhile is done.
void Pass(LoopWorld& world, absl::Duration time) {
  for (; time > absl::ZeroDuration(); time -= absl::Seconds(1)) {
    world.clock.Advance(absl::Seconds(1));
    LoopWorld::Await([&] { return world.scaler->stats().queue == 0; });
  }
}

// A world that runs, so that what is put into it is decided at once.
void StartForNews(LoopWorld& world) {
  world.AddDeployment("first", 2);
  world.PutOwn("first", ExternalMetricJson("queue", "10"), R"(,"cadence":{"interval":"1s"})");
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("first").has_value());
}

// It is decided when its schedule opens and when it closes, and not in the other minutes.
TEST(OwnKind, ItsSchedulesWaitForNoIntervalOfAnHour) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  StartForNews(world);
  world.PutOwn("web", ExternalMetricJson("queue", "10"),
               R"(,"cadence":{"interval":"1h"},"schedules":[{"name":"a","start":"4 0 * * *",)"
               R"("end":"8 0 * * *","minReplicas":6}])");
  ASSERT_TRUE(LoopWorld::Await([&] { return world.diary.count("web") == 1; }));
  ASSERT_LT(world.clock.WallNow(), kLoopStart + absl::Minutes(3));
  Pass(world, kLoopStart + absl::Seconds(230) - world.clock.WallNow());
  EXPECT_EQ(world.Replicas("web"), 4);
  Pass(world, absl::Seconds(30));
  EXPECT_TRUE(LoopWorld::Await([&] { return world.Replicas("web") == 6; }));
  Pass(world, absl::Minutes(4));
  EXPECT_TRUE(LoopWorld::Await([&] { return world.diary.last("web").decision.min_replicas == 1; }));
  EXPECT_EQ(world.diary.count("web"), 3);
}

// An annotation is no change of the spec.
TEST(OwnKind, AnotherModeWaitsForNoIntervalOfAnHour) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  StartForNews(world);
  world.PutOwn("web", ExternalMetricJson("queue", "10"),
               R"(,"mode":"Shadow","cadence":{"interval":"1h"})");
  ASSERT_TRUE(LoopWorld::Await([&] { return world.diary.count("web") == 1; }));
  ASSERT_EQ(world.Replicas("web"), 2);
  world.api.Patch("/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/web",
                  R"({"metadata":{"annotations":{"flyball.dev/mode":"act"}}})");
  EXPECT_TRUE(LoopWorld::Await([&] { return world.Replicas("web") == 4; }, absl::Seconds(10)));
}

TEST(OwnKind, WhatIsDeletedIsForgottenBeforeItsNextSlot) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  StartForNews(world);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"cadence":{"interval":"1h"})");
  ASSERT_TRUE(LoopWorld::Await([&] { return world.diary.count("web") == 1; }));
  world.api.Delete("/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/web");
  const absl::Time deleted = world.clock.WallNow();
  EXPECT_TRUE(
      LoopWorld::Await([&] { return world.diary.forgotten("web") == 1; }, absl::Seconds(10)));
  EXPECT_EQ(world.clock.WallNow(), deleted);
}

TEST(OwnKind, LeavesAndEntersZero) {
  LoopWorld world(Act());
  world.AddDeployment("web", 0);
  world.PutOwn("web", "", kJobs);
  world.Start();
  std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  ASSERT_TRUE(seen->activation.has_value());
  EXPECT_EQ(seen->activation->step, ActivationStep::kWait);
  EXPECT_EQ(world.Replicas("web"), 0);

  for (int i = 0; i < 6; ++i) world.AddPod("job", absl::StrCat("job-", i));
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 1;
  })) << world.Own("web");
  // From one on the replica math decides: 6 pods, 2 for each replica. The deployment has to follow.
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web", R"({"status":{"replicas":1}})");
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 3;
  })) << world.Own("web");
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(100));  // it waits for what the next decision says
    return absl::StrContains(world.Own("web"), R"("lastActiveTime":"2026)");
  })) << world.Own("web");

  for (int i = 0; i < 6; ++i) {
    world.api.Delete(absl::StrCat("/api/v1/namespaces/shop/pods/job-", i));
  }
  const MonotonicTime idle_since = world.clock.MonotonicNow();
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 0;
  })) << world.Own("web");
  EXPECT_GE(world.clock.MonotonicNow() - idle_since, absl::Seconds(29));
}

TEST(OwnKind, SaysWhatIsWrongWithATrigger) {
  LoopWorld world(Act());
  world.AddDeployment("web", 3);
  world.PutOwn("web", "",
               R"(,"triggers":[{"type":"kubernetes-workload","metadata":{"podSelector":"a=b",)"
               R"("value":"no number"}}])");
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->decision.outcome, Outcome::kMetricsFailed);
  EXPECT_TRUE(absl::StrContains(seen->decision.error, "triggers[0].metadata.value"))
      << seen->decision.error;
  EXPECT_EQ(world.Replicas("web"), 3);
}

// "queue" for 10 a replica, with a fallback.
std::string QueueOr(const std::string& fallback) {
  std::string metric = ExternalMetricJson("queue", "10");
  return metric.insert(metric.size() - 1, absl::StrCat(R"(,"fallback":)", fallback));
}

TEST(OwnKind, AMetricKeepsWhatItAskedForAndThenAsksForACount) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", QueueOr(R"({"keepLast":"1m","then":{"replicas":3}})"),
               R"(,"cadence":{"interval":"10s"},"behavior":{"scaleDown":)"
               R"({"stabilizationWindowSeconds":0},"scaleUp":{"policies":)"
               R"([{"type":"Pods","value":2,"periodSeconds":15}]}})");
  world.metrics.SetExternal("queue", 75000);  // 8, two at a time
  world.Start();
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 4;
  })) << world.Own("web");
  world.metrics.SetExternal("queue", std::nullopt);
  const MonotonicTime unknown_since = world.clock.MonotonicNow();
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 8;
  })) << world.Own("web");
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 3;
  })) << world.Own("web");
  EXPECT_GE(world.clock.MonotonicNow() - unknown_since, absl::Minutes(1));
  EXPECT_EQ(world.diary.last("web").decision.proposals[0].verdict, Verdict::kInstead);
  world.metrics.SetExternal("queue", 55000);
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 6;
  })) << world.Own("web");
}

// Another bound or target makes no other metric of it.
TEST(OwnKind, AScheduleThatOpensForgetsNoLastCount) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", QueueOr(R"({"keepLast":"5m","then":{"replicas":7}})"),
               R"(,"cadence":{"interval":"10s"},"schedules":[{"name":"a","start":"2 0 * * *",)"
               R"("end":"0 1 * * *","minReplicas":3,"targets":{"queue":"20"}}])");
  world.metrics.SetExternal("queue", 55000);
  world.Start();
  const auto next_from = [&](int minute) {
    while (world.Next("web").has_value() &&
           world.clock.WallNow() < kLoopStart + absl::Minutes(minute)) {
    }
    return world.diary.last("web").decision;
  };
  EXPECT_EQ(next_from(1).proposals[0].replicas, 6);
  world.metrics.SetExternal("queue", std::nullopt);
  ASSERT_TRUE(world.Next("web").has_value());
  const Decision kept = next_from(3);
  EXPECT_EQ(kept.min_replicas, 3);
  EXPECT_EQ(kept.proposals[0].verdict, Verdict::kInstead);
  EXPECT_EQ(kept.proposals[0].replicas, 6);
  const Decision then = next_from(7);
  EXPECT_EQ(then.proposals[0].verdict, Verdict::kInstead);
  EXPECT_EQ(then.proposals[0].replicas, 7);
}

TEST(OwnKind, AMetricThatFailsAsAScheduleOpensKeepsItsLastCount) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", QueueOr(R"({"keepLast":"5m"})"),
               R"(,"cadence":{"interval":"30s"},"schedules":[{"name":"a","start":"1 0 * * *",)"
               R"("end":"0 1 * * *","minReplicas":3}])");
  world.metrics.SetExternal("queue", 55000);
  world.Start();
  const absl::Time opens = kLoopStart + absl::Minutes(1);
  while (world.clock.WallNow() < opens - absl::Seconds(30)) {
    ASSERT_TRUE(world.Next("web").has_value());
  }
  world.metrics.SetExternal("queue", std::nullopt);
  if (world.clock.WallNow() < opens) world.clock.Advance(opens - world.clock.WallNow());
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.diary.last("web").decision.min_replicas == 3;
  }));
  EXPECT_EQ(world.diary.last("web").decision.proposals[0].verdict, Verdict::kInstead);
  EXPECT_EQ(world.diary.last("web").decision.proposals[0].replicas, 6);
}

// It opens or closes each minute, and nine decisions take longer.
TEST(OwnKind, AScheduleThatOpensCountsNoFailuresAnew) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn(
      "web", QueueOr(R"({"failureThreshold":9,"then":{"replicas":3}})"),
      R"(,"cadence":{"interval":"10s"},"schedules":[{"name":"a","start":"1-59/2 * * * *",)"
      R"("end":"*/2 * * * *","minReplicas":2}],"triggers":[{"type":"metrics-api","metadata":)"
      R"({"url":"http://127.0.0.1:1/","valueLocation":"a","targetValue":"1"},"fallback":)"
      R"({"failureThreshold":9,"then":{"replicas":4}}}])");
  world.metrics.SetExternal("queue", std::nullopt);
  world.Start();
  Decision decision;
  for (int i = 0; i < 12; ++i) {
    const std::optional<Seen> seen = world.Next("web");
    ASSERT_TRUE(seen.has_value());
    decision = seen->decision;
  }
  ASSERT_EQ(decision.proposals.size(), 2u);
  EXPECT_EQ(decision.proposals[0].replicas, 3);
  EXPECT_EQ(decision.proposals[1].replicas, 4);
}

TEST(OwnKind, AnEditForgetsWhatTheMetricAskedForLast) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  const std::string fast = R"(,"cadence":{"interval":"10s"})";
  const std::string queue = QueueOr(R"({"keepLast":"1h"})");
  world.PutOwn("web", queue, fast);
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.metrics.SetExternal("queue", std::nullopt);
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() &&
           world.diary.last("web").decision.proposals[0].verdict == Verdict::kInstead;
  }));
  world.PutOwn("web", absl::StrReplaceAll(queue, {{"queue", "other"}}), fast);
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() &&
           world.diary.last("web").decision.outcome == Outcome::kMetricsFailed;
  }));
  ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_FALSE(world.diary.last("web").decision.proposals[0].valid);
}

TEST(OwnKind, WhatAMetricKeepsShrinksNothing) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", QueueOr(R"({"keepLast":"1h"})"),
               R"(,"cadence":{"interval":"10s"},"behavior":{"scaleDown":)"
               R"({"stabilizationWindowSeconds":0,"selectPolicy":"Disabled"}})");
  world.metrics.SetExternal("queue", 15000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.metrics.SetExternal("queue", std::nullopt);
  ASSERT_TRUE(world.Next("web").has_value());
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web", R"({"spec":{"replicas":7}})");
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.diary.last("web").decision.current == 7;
  }));
  EXPECT_EQ(world.diary.last("web").decision.proposals[0].replicas, 7);
  EXPECT_EQ(world.Replicas("web"), 7);
}

// With 2 pods of app=job the trigger asks for one replica, and is inactive.
constexpr char kIdleJobs[] =
    R"(,"minReplicas":0,"cadence":{"interval":"1s"},"cooldownPeriod":5,"triggers":[{"type":)"
    R"("kubernetes-workload","metadata":{"podSelector":"app=job","value":"2",)"
    R"("activationValue":"5"}}])";

TEST(OwnKind, AnUnknownMetricKeepsTheLastReplica) {
  LoopWorld world(Act());
  world.AddDeployment("web", 1);
  for (int i = 0; i < 2; ++i) world.AddPod("job", absl::StrCat("job-", i));
  world.PutOwn("web", ExternalMetricJson("queue", "10"), kIdleJobs);
  world.metrics.SetExternal("queue", std::nullopt);
  world.Start();
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 1);
  EXPECT_FALSE(world.diary.last("web").activation->active);
  world.metrics.SetExternal("queue", 3000);
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 0;
  })) << world.Own("web");
}

TEST(OwnKind, WhatAMetricKeepsIsNotScaledToZero) {
  LoopWorld world(Act());
  world.AddDeployment("web", 3);
  for (int i = 0; i < 6; ++i) world.AddPod("job", absl::StrCat("job-", i));
  world.PutOwn("web", QueueOr(R"({"keepLast":"3m","then":{"replicas":3}})"), kIdleJobs);
  world.metrics.SetExternal("queue", 25000);
  world.Start();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(world.diary.last("web").activation->active);
  world.metrics.SetExternal("queue", std::nullopt);
  ASSERT_TRUE(world.Next("web").has_value());
  for (int i = 0; i < 6; ++i) {
    world.api.Delete(absl::StrCat("/api/v1/namespaces/shop/pods/job-", i));
  }
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_EQ(world.Replicas("web"), 3);
  EXPECT_EQ(world.diary.last("web").decision.proposals[0].verdict, Verdict::kInstead);
  // What a person says counts like a reading, the same count too.
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 0;
  })) << world.Own("web");
}

TEST(OwnKind, FallbackStandsForADeadTrigger) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", "",
               R"(,"cadence":{"interval":"1s"},"fallback":{"replicas":4,"failureThreshold":2},)"
               R"("triggers":[{"type":"metrics-api","metadata":{"url":"http://127.0.0.1:1/",)"
               R"("valueLocation":"a","targetValue":"1"}}])");
  world.Start();
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 4;
  })) << world.Own("web");
}

// A trigger that nobody answers, with more of its fields.
std::string DeadTrigger(const std::string& fields) {
  return absl::StrCat(R"({"type":"metrics-api","metadata":{"url":"http://127.0.0.1:1/",)",
                      R"("valueLocation":"a","targetValue":"1"})", fields, "}");
}

TEST(OwnKind, ATriggerMayHaveAFallbackOfItsOwn) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn(
      "web", "",
      absl::StrCat(R"(,"cadence":{"interval":"1s"},)", R"("behavior":{"scaleUp":{"policies":)",
                   R"([{"type":"Pods","value":20,"periodSeconds":15}]}},)",
                   R"("fallback":{"replicas":4,"failureThreshold":2},"triggers":[)",
                   DeadTrigger(""), ",",
                   DeadTrigger(R"(,"fallback":{"failureThreshold":4,"then":{"max":true}})"), "]"));
  world.Start();
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 4;
  })) << world.Own("web");
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 20;
  })) << world.Own("web");
  const Seen& seen = world.diary.last("web");
  EXPECT_NE(seen.decision.proposals[0].verdict, Verdict::kInstead);
  EXPECT_EQ(seen.decision.proposals[1].verdict, Verdict::kInstead);
  EXPECT_TRUE(seen.activation->active);
}

TEST(OwnKind, ATriggersFallbackDecidesOnZero) {
  LoopWorld world(Act());
  const auto put = [&](const std::string& name, const std::string& fallback) {
    world.AddDeployment(name, 2);
    world.PutOwn(name, "",
                 absl::StrCat(R"(,"minReplicas":0,"cooldownPeriod":0,"cadence":{"interval":"1s"},)",
                              R"("triggers":[)",
                              DeadTrigger(absl::StrCat(R"(,"fallback":)", fallback)), "]"));
  };
  put("none", R"({"failureThreshold":2,"then":{"replicas":0}})");
  put("least", R"({"failureThreshold":2,"then":{"min":true}})");
  put("kept", R"({"keepLast":"1h","then":{"replicas":0}})");
  world.Start();
  for (const char* name : {"none", "least"}) {
    EXPECT_TRUE(LoopWorld::Await([&] {
      return world.Next(name).has_value() && world.Replicas(name) == 0;
    })) << world.Own(name);
  }
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.Next("kept").has_value());
  EXPECT_EQ(world.Replicas("kept"), 2);
  EXPECT_EQ(world.diary.last("kept").activation->reason, "TriggerError");
}

// KEDA takes an empty list of values for no failure.
TEST(OwnKind, AnExternalScalerMayTellOfActivityAlone) {
  Peer peer;
  peer.Do(R"({"spec": [{"name": "queue", "target": 5}], "active": true})");
  ScalerOptions options = Act();
  options.trigger_addresses = *http::AddressRules::Parse({"127.0.0.0/8"});
  LoopWorld world(options);
  world.AddDeployment("web", 3);
  world.PutOwn("web", "",
               absl::StrCat(R"(,"minReplicas":0,"cadence":{"interval":"1s"},"cooldownPeriod":5,)",
                            R"("fallback":{"replicas":2,"failureThreshold":1},"triggers":[)",
                            R"({"type":"external","metadata":{"scalerAddress":")", peer.address(),
                            R"("}}])"));
  world.Start();
  const auto is_active = [&world] {
    const std::optional<Seen> seen = world.Next("web");
    return seen.has_value() && seen->activation.has_value() && seen->activation->active;
  };
  ASSERT_TRUE(LoopWorld::Await(is_active)) << world.Own("web");
  EXPECT_EQ(world.Replicas("web"), 3);
  // Nothing is wrong with it, so no alert may say so.
  EXPECT_EQ(LimitingReason(world.diary.last("web").decision), "none");
  EXPECT_FALSE(absl::StrContains(world.Own("web"), "fallback of metric")) << world.Own("web");
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() &&
           absl::StrContains(world.Own("web"), R"("active":true)");  // of status.triggers
  })) << world.Own("web");
  EXPECT_FALSE(absl::StrContains(world.Own("web"), R"("error":)")) << world.Own("web");
  peer.Do(R"({"active": false})");
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 0;
  })) << world.Own("web");
  peer.Do(R"({"active": true})");
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 1;
  })) << world.Own("web");
}

TEST(OwnKind, PushedActivityWakesBeforeTheMetricsAreKnown) {
  Peer peer;  // it names no metrics
  ScalerOptions options = Act();
  options.trigger_addresses = *http::AddressRules::Parse({"127.0.0.0/8"});
  LoopWorld world(options);
  world.AddDeployment("web", 0);
  world.PutOwn(
      "web", "",
      absl::StrCat(R"(,"minReplicas":0,"cadence":{"interval":"1s"},"triggers":[{"type":)",
                   R"("external-push","metadata":{"scalerAddress":")", peer.address(), R"("}}])"));
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  peer.Do(R"({"streams": 1})");
  peer.Do(R"({"push": true})");
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 1;
  })) << world.Own("web");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 1);
}

TEST(OwnKind, AFallbackOfAValueNeedsPodsOfNow) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn(
      "web", "",
      R"(,"minReplicas":0,"cadence":{"interval":"1s"},)"
      R"("fallback":{"replicas":4,"failureThreshold":2},"triggers":[{"type":"metrics-api",)"
      R"("metricType":"Value","metadata":{"url":"http://127.0.0.1:1/",)"
      R"("valueLocation":"a","targetValue":"1"}}])");
  world.Start();
  ASSERT_TRUE(LoopWorld::Await([&] {  // 4 / 2 for each of the 2 pods
    return world.Next("web").has_value() && world.Replicas("web") == 4;
  })) << world.Own("web");
  // At zero by hand: the pods that were there do not count any more.
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                  R"({"spec":{"replicas":0},"status":{"replicas":0}})");
  std::optional<Seen> seen;
  ASSERT_TRUE(LoopWorld::Await([&] {
    seen = world.Next("web");
    return seen.has_value() && seen->decision.current == 0;
  }));
  EXPECT_EQ(seen->activation->step, ActivationStep::kWait);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 0);
}

// lastActiveTime lags while activity lasts: here by up to a status interval.
TEST(OwnKind, ASuccessorEntersZeroNoEarlier) {
  ChangingOwner owner(/*owns=*/true);
  LoopWorld world(Act());
  world.ownership = &owner;
  world.AddDeployment("web", 2);
  for (int i = 0; i < 4; ++i) world.AddPod("job", absl::StrCat("job-", i));
  world.PutOwn("web", "",
               R"(,"minReplicas":0,"cadence":{"interval":"1s"},"cooldownPeriod":60,"triggers":)"
               R"([{"type":"kubernetes-workload","metadata":{"podSelector":"app=job",)"
               R"("value":"2"}}])");
  world.Start();
  for (int i = 0; i < 14; ++i) ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(world.diary.last("web").activation->active);
  owner.Become(false);
  for (int i = 0; i < 4; ++i) {
    world.api.Delete(absl::StrCat("/api/v1/namespaces/shop/pods/job-", i));
  }
  const absl::Time idle_since = world.clock.WallNow();
  world.clock.Advance(absl::Seconds(5));
  owner.Become(true);
  absl::Duration after;  // not until it is seen: the clock may go on while it is written
  ASSERT_TRUE(LoopWorld::Await([&] {
    const auto seen = world.Next("web");
    if (!seen.has_value() || !seen->scale_written) return false;
    after = seen->decision.now - idle_since;
    return true;
  })) << world.Own("web");
  EXPECT_EQ(world.Replicas("web"), 0);
  EXPECT_GE(after, absl::Seconds(59)) << after;
  EXPECT_LE(after, absl::Seconds(75)) << after;
}

TEST(OwnKind, ActivityAloneIsNoNews) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  for (int i = 0; i < 4; ++i) world.AddPod("job", absl::StrCat("job-", i));
  world.PutOwn("web", "", kJobs);
  world.Start();
  const MonotonicTime begin = world.clock.MonotonicNow();
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(world.diary.last("web").activation->active);
  // The first says it; then one in a status interval of 15 s keeps the time of activity fresh. They
  // are written by a thread of its own, which takes several for one where it comes late.
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(100));
    return world.api.CountRequests("PATCH", "/status") >= 2;
  }));
  const auto written = world.api.CountRequests("PATCH", "/status");
  EXPECT_LE(written, 2 + (world.clock.MonotonicNow() - begin) / absl::Seconds(15));
}

TEST(OwnKind, ANewOneAndANewSpecAreDecidedAtOnce) {
  LoopWorld world(Act());
  world.AddDeployment("other", 2);
  world.AddDeployment("web", 2);
  world.PutOwn("other", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("other").has_value());
  // From here on the clock stands still.
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"cadence":{"interval":"1h"})");
  ASSERT_TRUE(world.diary.AwaitCount("web", 1, absl::Seconds(30)));
  EXPECT_EQ(world.Replicas("web"), 4);
  world.PutOwn("web", ExternalMetricJson("queue", "5"), R"(,"cadence":{"interval":"1h"})");
  ASSERT_TRUE(world.diary.AwaitCount("web", 2, absl::Seconds(30)));
  EXPECT_TRUE(LoopWorld::Await([&] { return world.Replicas("web") == 7; })) << world.Own("web");
}

TEST(OwnKind, WhatIsPushedToIsDecidedAtOnceWhereItIsTakenOver) {
  ChangingOwner successor(/*owns=*/false);
  LoopWorld world(Act());
  world.ownership = &successor;
  world.AddDeployment("web", 2);
  world.PutOwn("web", "",
               R"(,"cadence":{"interval":"1h"},"triggers":[{"type":"external-push","metadata":)"
               R"({"scalerAddress":"127.0.0.1:1"}}])");
  world.Start();
  ASSERT_TRUE(LoopWorld::Await([&] { return world.scaler->Ready().ok(); }));
  successor.Become(true);
  // Minutes at most, of an hour: until the kind of its target is listed it is looked for again.
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(200));
    return world.diary.count("web") > 0;
  }));
}

// A pod of a Deployment's only ReplicaSet.
void PutPod(LoopWorld& world, const std::string& deployment, int number) {
  world.api.Put(absl::StrCat(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":")", deployment,
      "-5c9-", number, R"(","labels":{"app":"web","pod-template-hash":"5c9"},"ownerReferences":)",
      R"([{"apiVersion":"apps/v1","kind":"ReplicaSet","name":")", deployment,
      R"(-5c9","uid":"u","controller":true}]},"spec":{"containers":[{"name":"app","resources":)",
      R"({"requests":{"cpu":"1"}}}]},"status":{"phase":"Running","startTime":)",
      R"("2025-12-31T00:00:00Z","conditions":[{"type":"Ready","status":"True",)",
      R"("lastTransitionTime":"2025-12-31T00:00:00Z"}]}})"));
}

// Value 10 of a total of 20 is twice as many as there are ready pods: of 2 that are its own, of 5
// that its selector finds.
TEST(OwnKind, CountsItsOwnPodsWhereItSaysSo) {
  for (const bool owned : {false, true}) {
    LoopWorld world(Act());
    world.AddDeployment("web", 0);
    world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                    R"({"spec":{"replicas":2},"status":{"replicas":2}})");
    for (int i = 0; i < 2; ++i) PutPod(world, "web", i);
    for (int i = 0; i < 3; ++i) PutPod(world, "web-canary", i);
    world.PutOwn("web",
                 R"({"type":"External","external":{"metric":{"name":"queue"},)"
                 R"("target":{"type":"Value","value":"10"}}})",
                 owned ? R"(,"podSelection":"OwnerReferences")" : "");
    world.metrics.SetExternal("queue", 20000);
    world.Start();
    const std::optional<Seen> seen = world.Next("web");
    ASSERT_TRUE(seen.has_value());
    ASSERT_EQ(seen->decision.proposals.size(), 1u) << seen->decision.error;
    EXPECT_EQ(seen->decision.proposals[0].replicas, owned ? 4 : 10);
  }
}

// One of its pods is ready from the start on, after it has loaded for 100 s. Until it has been ready
// for as long, a higher recommendation of the window must not grow the target; then it does, though
// nothing but the time has changed.
TEST(OwnKind, WhatWaitedForAPodIsDecidedAnewOnceThatHasSettled) {
  LoopWorld world(Act());
  world.AddDeployment("web", 6);
  const auto time = [](absl::Time at) {
    return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", at, absl::UTCTimeZone());
  };
  world.api.Patch("/api/v1/namespaces/shop/pods/web-0",
                  absl::StrCat(R"({"status":{"startTime":")", time(kLoopStart - absl::Seconds(100)),
                               R"(","conditions":[{"type":"Ready","status":"True",)",
                               R"("lastTransitionTime":")", time(kLoopStart), R"("}]}})"));
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"pendingCapacity":true)");
  world.metrics.SetExternal("queue", 60'000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.metrics.SetExternal("queue", 40'000);
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                  R"({"spec":{"replicas":4},"status":{"replicas":4}})");
  while (world.clock.WallNow() < kLoopStart + absl::Seconds(80)) {
    ASSERT_TRUE(world.Next("web").has_value());
    ASSERT_EQ(world.Replicas("web"), 4);
  }
  while (world.clock.WallNow() < kLoopStart + absl::Seconds(150)) {
    ASSERT_TRUE(world.Next("web").has_value());
  }
  EXPECT_EQ(world.Replicas("web"), 6);
}

TEST(OwnKind, PausedIsOnlyWatched) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"paused":true)");
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->mode, Mode::kShadow);
  EXPECT_EQ(seen->decision.desired, 4);
  EXPECT_EQ(world.Replicas("web"), 2);
}

// An Autoscaler of the target `web` beside the one that has its name; `more` as for PutOwn.
void PutTrial(LoopWorld& world, int generation, const std::string& more) {
  world.api.Put(absl::StrCat(
      R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler","metadata":{"namespace":"shop",)",
      R"("name":"trial","generation":)", generation, R"(},"spec":{"maxReplicas":20,)",
      R"("scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[)",
      ExternalMetricJson("queue", "5"), "]", more, "}}"));
}

// What writes nothing takes no target from what acts; once it acts too, neither does.
TEST(OwnKind, WhatOnlyWatchesIsNoRival) {
  for (const char* watches : {R"(,"mode":"Shadow")", R"(,"paused":true)"}) {
    LoopWorld world(Act());
    const auto both_are = [&](Outcome outcome) {
      return LoopWorld::Await([&] {
        return world.Next("web").has_value() && world.Next("trial").has_value() &&
               world.diary.last("web").decision.outcome == outcome &&
               world.diary.last("trial").decision.outcome == outcome;
      });
    };
    world.AddDeployment("web", 2);
    world.PutOwn("web", ExternalMetricJson("queue", "10"));
    PutTrial(world, 1, watches);
    world.metrics.SetExternal("queue", 35000);
    world.Start();
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(world.Next("web").has_value());
      ASSERT_TRUE(world.Next("trial").has_value());
      EXPECT_EQ(world.diary.last("web").decision.error, "") << watches;
      EXPECT_EQ(world.diary.last("trial").decision.error, "") << watches;
    }
    EXPECT_EQ(world.Replicas("web"), 4);
    EXPECT_EQ(world.diary.last("trial").mode, Mode::kShadow);
    ASSERT_EQ(world.diary.last("trial").decision.proposals.size(), 1u);
    EXPECT_EQ(world.diary.last("trial").decision.proposals[0].replicas, 7);
    PutTrial(world, 2, "");
    EXPECT_TRUE(both_are(Outcome::kMetricsFailed)) << watches;
    PutTrial(world, 3, watches);
    EXPECT_TRUE(both_are(Outcome::kDecided)) << watches;
  }
}

// An API server admits it, but it has no day 8 of the week.
constexpr char kNoSuchDay[] = R"({"spec":{"schedules":[{"name":"a","start":"0 8 * * 8",)"
                              R"("end":"0 9 * * *","minReplicas":3}]}})";

TEST(OwnKind, ASpecThatCannotBeFollowedIsToldUntilItCan) {
  LoopWorld world(Act());
  const std::string path = "/apis/flyball.dev/v1alpha1/namespaces/shop/autoscalers/web";
  const auto comes_to_say = [&](const std::string& reason) {
    return LoopWorld::Await([&] {
      world.clock.Advance(absl::Milliseconds(100));
      return absl::StrContains(world.Own("web"), absl::StrCat(R"("reason":")", reason, R"(")"));
    });
  };
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(comes_to_say("ValidMetricFound")) << world.Own("web");
  world.api.Patch(path, kNoSuchDay);
  ASSERT_TRUE(comes_to_say("InvalidSpec")) << world.Own("web");
  const std::string told = world.Own("web");
  EXPECT_TRUE(absl::StrContains(told, "spec.schedules[0].start")) << told;
  EXPECT_TRUE(absl::StrContains(told, R"("observedGeneration":2)")) << told;
  EXPECT_TRUE(absl::StrContains(told, R"("desiredReplicas":4)")) << told;
  const auto tells = [&world] {
    int count = 0;
    for (const std::string& event : world.api.List("/api/v1/namespaces/shop/events")) {
      if (absl::StrContains(event, R"("reason":"InvalidSpec")")) ++count;
    }
    return count;
  };
  EXPECT_TRUE(LoopWorld::Await([&] { return tells() == 1; }));
  // Once told it is not told again.
  const int writes = world.api.CountRequests("PATCH", "/status");
  const int decisions = world.diary.count("web");
  for (int i = 0; i < 600; ++i) {
    world.clock.Advance(absl::Milliseconds(100));
    LoopWorld::Await([&] { return world.scaler->stats().queue == 0; });
  }
  EXPECT_EQ(world.api.CountRequests("PATCH", "/status"), writes);
  EXPECT_EQ(world.diary.count("web"), decisions);
  EXPECT_EQ(tells(), 1);
  world.api.Patch(path, R"({"spec":{"schedules":null}})");
  EXPECT_TRUE(comes_to_say("ValidMetricFound")) << world.Own("web");
  EXPECT_FALSE(absl::StrContains(world.Own("web"), "InvalidSpec")) << world.Own("web");
}

TEST(OwnKind, ARefusalIsToldAgainWhereItCouldNotBeWritten) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.AddDeployment("trial", 2);
  for (const auto& [name, mode] :
       {std::pair("web", ""), std::pair("trial", R"(,"mode":"Shadow")")}) {
    world.PutOwn(name, ExternalMetricJson("queue", "10"),
                 absl::StrCat(R"(,"pausedUntil":"tomorrow")", mode));
  }
  world.api.Inject({.method = "PATCH", .part = "web/status", .times = 2});
  world.Start();
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(100));
    return absl::StrContains(world.Own("web"), R"("reason":"InvalidSpec")");
  })) << world.Own("web");
  EXPECT_EQ(world.api.faults(), 2);
  EXPECT_EQ(world.api.CountRequests("PATCH", "trial/status"), 0)
      << "of a shadow nothing is written";
}

// A following HPA may never reach the count that is advised, as it tolerates a difference of 10 %.
TEST(OwnKind, WhatIsAdvisedIsToldOnceAndIsNoScaling) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"mode":"Advise")");
  world.metrics.SetExternal("queue", 25000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(100));
    return absl::StrContains(world.Own("web"), R"("desiredReplicas":3)");
  })) << world.Own("web");
  ASSERT_TRUE(LoopWorld::Await([&] { return world.scaler->stats().status_writes > 0; }));
  const auto writes = world.scaler->stats().status_writes;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.diary.last("web").decision.desired, 3);
  }
  world.metrics.SetExternal("queue", 35000);
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(100));
    return absl::StrContains(world.Own("web"), R"("desiredReplicas":4)") &&
           world.scaler->stats().status_writes > writes;
  })) << world.Own("web");
  EXPECT_EQ(world.scaler->stats().status_writes, writes + 1);
  const std::string told = world.Own("web");
  EXPECT_FALSE(absl::StrContains(told, "lastScaleTime")) << told;
  EXPECT_TRUE(absl::StrContains(told, R"("reason":"ReplicasAdvised")")) << told;
  EXPECT_TRUE(absl::StrContains(told, "replicas advised: 4")) << told;
  EXPECT_EQ(world.Replicas("web"), 2);
}

// Every replica decides what is advised; its status is the owner's.
TEST(OwnKind, WhoDoesNotOwnWhatIsAdvisedWritesNoStatus) {
  class Fenced : public ChangingOwner {
   public:
    using ChangingOwner::ChangingOwner;
    bool MayWrite(const AutoscalerKey& key, MonotonicTime) const override { return Owns(key); }
  };
  Fenced owner(/*owns=*/false);
  LoopWorld world(Act());
  world.ownership = &owner;
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"mode":"Advise")");
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.diary.last("web").decision.desired, 4);
  owner.Become(true);
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(100));
    return absl::StrContains(world.Own("web"), R"("desiredReplicas":)");
  })) << world.Own("web");
  EXPECT_EQ(world.scaler->stats().conflicts, 0);
}

TEST(OwnKind, OnSampleDecidesWhenATriggerChanged) {
  ScalerOptions options = Act();
  options.sync_period = absl::Hours(1);  // so nothing below is a regular decision
  LoopWorld world(options);
  world.AddDeployment("web", 0);
  world.PutOwn("web", "",
               R"(,"minReplicas":0,"cadence":{"onSample":true},"triggers":[{"type":)"
               R"("kubernetes-workload","metadata":{"podSelector":"app=job","value":"2"}}])");
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  const auto reaches = [&world](int replicas) {
    return LoopWorld::Await([&] {
      world.clock.Advance(absl::Milliseconds(200));
      return world.Replicas("web") == replicas;
    });
  };
  int asked = 0;
  LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(200));
    return ++asked == 50;
  });
  EXPECT_EQ(world.diary.count("web"), 1);  // at zero too: nothing changed
  for (int i = 0; i < 2; ++i) world.AddPod("job", absl::StrCat("job-", i));
  EXPECT_TRUE(reaches(1)) << world.Own("web");
  world.AddPod("web", "web-0");
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web", R"({"status":{"replicas":1}})");
  for (int i = 2; i < 8; ++i) world.AddPod("job", absl::StrCat("job-", i));
  EXPECT_TRUE(reaches(4)) << world.Own("web");
  world.api.Delete(
      "/api/v1/namespaces/shop/pods/job-0");  // so that it is not the scale that is new
  world.AddPod("job", "job-8");
  world.AddPod("job", "job-9");
  world.AddPod("job", "job-10");
  EXPECT_TRUE(reaches(5)) << world.Own("web");
}

TEST(OwnKind, OnSampleDecidesWhenAReadingChanged) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"cadence":{"onSample":true})");
  world.metrics.SetExternal("queue", 20000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  const int asked = world.metrics.asked("external");
  // It asks again and again and decides nothing, as nothing changed.
  ASSERT_TRUE(LoopWorld::Await([&] {
    if (world.scaler->stats().queue == 0) world.clock.Advance(absl::Milliseconds(200));
    return world.metrics.asked("external") >= asked + 5;
  }));
  EXPECT_EQ(world.diary.count("web"), 1);
  world.metrics.SetExternal("queue", 35000);
  ASSERT_TRUE(LoopWorld::Await([&] {
    if (world.scaler->stats().queue == 0) world.clock.Advance(absl::Milliseconds(200));
    return world.Replicas("web") == 4;
  }));
  EXPECT_LT(world.clock.MonotonicNow(), absl::Seconds(29));  // not at the next period's slot
}

// Many that may not write would leave no room in the budget for those that may.
TEST(OwnKind, OnSampleTriesARefusedWriteAgainLessAndLessOften) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"cadence":{"onSample":true})");
  world.metrics.SetExternal("queue", 35000);
  world.api.Inject({.method = "PUT", .part = "/scale", .times = 1000, .status = 403});
  world.Start();
  // No faster than it asks for the metric, so that a busy machine loses none of the times to try.
  const auto advance = [&world] {
    const int asked = world.metrics.asked("external");
    if (world.scaler->stats().queue == 0) world.clock.Advance(absl::Milliseconds(200));
    LoopWorld::Await([&] { return world.metrics.asked("external") > asked; },
                     absl::Milliseconds(100));
  };
  const auto tried = [&world] { return world.api.CountRequests("PUT", "/scale"); };
  ASSERT_TRUE(LoopWorld::Await([&] {
    advance();
    return tried() > 0;
  }));
  const MonotonicTime end = world.clock.MonotonicNow() + absl::Seconds(15);
  ASSERT_TRUE(LoopWorld::Await([&] {
    advance();
    return world.clock.MonotonicNow() >= end;
  }));
  EXPECT_GT(tried(), 1);
  EXPECT_LE(tried(), 5);
}

// Nothing that it reads is new then, but the last decision had none of it.
TEST(OwnKind, OnSampleDecidesWhenTheScaleCanBeReadAgain) {
  LoopWorld world(Act());
  world.AddDeployment("web", 2);
  world.AddDeployment("other", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"cadence":{"onSample":true})");
  world.metrics.SetExternal("queue", 20000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  const auto becomes = [&world](Outcome outcome, absl::Duration within) {
    const MonotonicTime end = world.clock.MonotonicNow() + within;
    const auto is = [&] { return world.diary.last("web").decision.outcome == outcome; };
    while (!is() && world.clock.MonotonicNow() < end) {
      if (world.scaler->stats().queue == 0) world.clock.Advance(absl::Milliseconds(200));
      LoopWorld::Await([&] { return is() || world.scaler->stats().queue == 0; });
    }
    return LoopWorld::Await(is);
  };
  world.api.Delete("/apis/apps/v1/namespaces/shop/deployments/web");
  ASSERT_TRUE(becomes(Outcome::kScaleUnknown, absl::Minutes(1)));
  world.AddDeployment("web", 2);
  // The same watch tells of this change after that. Each new spec is decided at once, so that no
  // time passes until then.
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/other", R"({"spec":{"replicas":3}})");
  int target = 10;
  ASSERT_TRUE(LoopWorld::Await([&] {
    const int before = world.diary.count("other");
    world.PutOwn("other", ExternalMetricJson("queue", absl::StrCat(++target)),
                 R"(,"mode":"Shadow","cadence":{"interval":"1h"})");
    return world.diary.AwaitCount("other", before + 1, absl::Seconds(1)) &&
           world.diary.last("other").decision.current == 3;
  }));
  EXPECT_TRUE(becomes(Outcome::kDecided, absl::Seconds(12)));  // less than a sync period
}

}  // namespace
}  // namespace flyball::scaler
