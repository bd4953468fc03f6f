#include "scaler/loop/scaler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/notification.h"
#include "base/test_thread_limit.h"
#include "base/thread_limit.h"
#include "nlohmann/json.hpp"
#include "scaler/testing/test_world.h"

namespace flyball::scaler {
namespace {

using testing::Test;

std::string ConditionsOf(const Decision& decision) {
  std::string out;
  for (const Condition& condition : decision.status.conditions) {
    absl::StrAppend(&out, condition.type, "=", condition.reason, " ");
  }
  return out;
}

TEST(Scaler, WritesScaleStatusAndEventInModeAct) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);  // 35 / 10 -> 4 replicas
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value()) << world.scaler->Ready();
  EXPECT_TRUE(seen->scale_written) << seen->scale_error;
  EXPECT_EQ(seen->decision.desired, 4);
  EXPECT_EQ(world.Replicas("web"), 4);
  EXPECT_TRUE(LoopWorld::Await([&] {
    return absl::StrContains(world.Hpa("web"), R"("desiredReplicas":4)");
  })) << world.Hpa("web");
  EXPECT_TRUE(absl::StrContains(world.Hpa("web"), "SucceededRescale")) << world.Hpa("web");
  EXPECT_TRUE(LoopWorld::Await(
      [&] { return world.api.List("/api/v1/namespaces/shop/events").size() == 1; }));
}

// The API server's cache still has the autoscaler as it was before somebody set its mode to shadow.
TEST(Scaler, DoesNotBeginWithWhatAnOldCacheHas) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"), "", R"({"flyball.dev/mode":"shadow"})");
  world.metrics.SetExternal("queue", 35000);
  world.api.OnRequest([&world](const http::HttpCall& call) {
    if (!absl::StrContains(call.target, "horizontalpodautoscalers?resourceVersion=0")) return;
    world.PutHpa("web", ExternalMetricJson("queue", "10"));
  });
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value()) << world.scaler->Ready();
  EXPECT_EQ(seen->mode, Mode::kShadow);
  EXPECT_EQ(world.Replicas("web"), 2);
}

// A write that was refused, while somebody else set the same count: that is no addition of ours,
// which would let the target shrink by as many at once.
TEST(Scaler, AWriteThatIsRefusedIsNotCounted) {
  for (const int status : {403, 409, 422}) {
    LoopWorld world;
    world.AddDeployment("web", 5);
    world.PutHpa("web", ExternalMetricJson("queue", "10"),
                 R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0,"policies":[)"
                 R"({"type":"Pods","value":1,"periodSeconds":600}]}})");
    world.metrics.SetExternal("queue", 80'000);
    world.api.Inject({.method = "PUT", .part = "/scale", .status = status});
    world.api.OnRequest([&world, asked = false](const http::HttpCall& call) mutable {
      if (call.method != "PUT" || std::exchange(asked, true)) return;
      world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                      R"({"spec":{"replicas":8}})");
    });
    world.Start();
    ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.Replicas("web"), 8) << status;
    world.metrics.SetExternal("queue", 10'000);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.Replicas("web"), 7) << status;
  }
}

// Ends that watch, and no other one opens. Within a minute its objects become unknown.
void BreakWatch(LoopWorld& world, const std::string& path) {
  world.api.Inject({.method = "WATCH", .part = path, .times = 1'000'000});
  world.api.CutWatches(/*well=*/true);
  // At the second failure the first has been reported.
  ASSERT_TRUE(LoopWorld::Await([&, looks = 0]() mutable {
    if (looks++ % 100 == 0) world.clock.Advance(absl::Seconds(1));
    return world.api.faults() >= 2;
  }));
}

TEST(Scaler, NoRemovalIsAdvisedOnPodsThatMayBeOutOfDate) {
  LoopWorld world;
  world.AddDeployment("web", 8);
  world.PutOwn("web", ExternalMetricJson("queue", "10"),
               R"(,"mode":"Advise","behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})");
  world.metrics.SetExternal("queue", 80'000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_NO_FATAL_FAILURE(BreakWatch(world, "/api/v1/pods"));
  world.metrics.SetExternal("queue", 20'000);
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->mode, Mode::kAdvise);
  EXPECT_EQ(seen->decision.desired, 2);
  EXPECT_TRUE(absl::StrContains(seen->scale_error, "the watch of pods")) << seen->scale_error;
  world.metrics.SetExternal("queue", 100'000);
  const std::optional<Seen> grown = world.Next("web");
  ASSERT_TRUE(grown.has_value());
  EXPECT_EQ(grown->decision.desired, 10);
  EXPECT_EQ(grown->scale_error, "");
}

TEST(Scaler, WhatIsDecidedOnAScaleThatMayBeOldSaysSo) {
  LoopWorld world;
  world.AddDeployment("web", 4);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"mode":"Advise")");
  world.metrics.SetExternal("queue", 40'000);
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_FALSE(seen->scale_is_old);
  ASSERT_NO_FATAL_FAILURE(BreakWatch(world, "/apis/apps/v1/deployments"));
  world.metrics.SetExternal("queue", 60'000);
  const std::optional<Seen> next = world.Next("web");
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->decision.desired, 6);
  EXPECT_TRUE(next->scale_is_old);
}

TEST(Scaler, TheStatusGoesOnWhileARemovalIsHeld) {
  LoopWorld world;
  world.AddDeployment("web", 8);
  world.PutHpa("web", ExternalMetricJson("queue", "10"),
               R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})");
  world.metrics.SetExternal("queue", 80'000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_NO_FATAL_FAILURE(BreakWatch(world, "/api/v1/pods"));
  world.metrics.SetExternal("queue", 20'000);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_TRUE(LoopWorld::Await([&] {
    return absl::StrContains(world.Hpa("web"), "ScaleDownHeld");
  })) << world.Hpa("web");
  EXPECT_TRUE(absl::StrContains(world.Hpa("web"), R"("desiredReplicas":8)")) << world.Hpa("web");
  EXPECT_TRUE(absl::StrContains(world.Hpa("web"), "the watch of pods")) << world.Hpa("web");
  EXPECT_EQ(world.Replicas("web"), 8);
}

// A removal was done, its answer was lost, and the client has sent it again.
TEST(Scaler, ARemovalThatIsRefusedWhenItIsSentAgainCounts) {
  for (const int status : {403, 409, 422}) {
    LoopWorld world;
    world.AddDeployment("web", 8);
    world.PutHpa("web", ExternalMetricJson("queue", "10"),
                 R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0,"policies":[)"
                 R"({"type":"Pods","value":1,"periodSeconds":600}]}})");
    world.metrics.SetExternal("queue", 10'000);
    world.api.Inject({.method = "PUT", .part = "/scale", .status = status});
    world.api.OnRequest([&world, asked = false](const http::HttpCall& call) mutable {
      if (call.method != "PUT" || std::exchange(asked, true)) return;
      world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web",
                      R"({"spec":{"replicas":7}})");
    });
    world.Start();
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_EQ(world.api.faults(), 1) << status;
    EXPECT_EQ(world.Replicas("web"), 7) << status;
  }
}

TEST(Scaler, DecidesOnAllFiveTypes) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web",
               absl::StrCat(CpuMetricJson(50), ",", PodsMetricJson("rps", "10"), ",",
                            ObjectMetricJson("hits", "100"), ",", ExternalMetricJson("queue", "10"),
                            R"(,{"type":"ContainerResource","containerResource":{"name":"cpu",)",
                            R"("container":"app","target":{"type":"AverageValue",)",
                            R"("averageValue":"250m"}}})"));
  world.metrics.SetCpu(500);               // 50 % of 1: 2 replicas; 500m of 250m: 4
  world.metrics.SetPods("rps", 15000);     // 15 of 10: 3
  world.metrics.SetObject("hits", 90000);  // 90 of 100, within tolerance: 2
  world.metrics.SetExternal("queue", 20000);
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  ASSERT_EQ(seen->decision.proposals.size(), 5u);
  const int32_t wanted[] = {2, 3, 2, 2, 4};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(seen->decision.proposals[i].valid) << seen->decision.proposals[i].error;
    EXPECT_EQ(seen->decision.proposals[i].replicas, wanted[i]) << i;
  }
  EXPECT_EQ(world.Replicas("web"), 4);
}

// As the controllers' REST mapping does, which has each kind in lower case as well.
TEST(Scaler, TakesKindsInLowerCase) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.api.Put(absl::StrReplaceAll(
      absl::StrCat(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{
          "namespace":"shop","name":"web"},"spec":{"maxReplicas":20,"scaleTargetRef":{"apiVersion":
          "apps/v1","kind":"deployment","name":"web"},"metrics":[)",
                   ObjectMetricJson("hits", "100"), "]}}"),
      {{R"("Service")", R"("service")"}}));
  world.metrics.SetObject("hits", 180000);  // 180 of 100: twice as many
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(seen->scale_written) << seen->decision.error << seen->scale_error;
  EXPECT_EQ(world.Replicas("web"), 4);
}

// The server answers /readyz and /metrics before the scaler is started, and while it stops.
TEST(Scaler, TellsHowItIsDoingFromBeforeItsStartUntilAfterItsEnd) {
  for (int round = 0; round < 20; ++round) {
    LoopWorld world;
    world.AddDeployment("web", 2);
    world.PutHpa("web", ExternalMetricJson("queue", "10"));
    world.metrics.SetExternal("queue", 35000);
    world.Make();
    EXPECT_FALSE(world.scaler->Ready().ok());
    std::atomic<bool> over = false;
    std::thread asker([&] {
      while (!over) {
        world.scaler->Ready().IgnoreError();
        EXPECT_LE(world.scaler->stats().autoscalers, 1u);
      }
    });
    ASSERT_TRUE(world.scaler->Start().ok());
    EXPECT_TRUE(LoopWorld::Await([&] { return world.scaler->Ready().ok(); }));
    EXPECT_TRUE(world.Next("web").has_value());
    world.scaler->Stop();
    EXPECT_FALSE(world.scaler->Ready().ok());
    over = true;
    asker.join();
  }
}

// What else is wrong with its annotations ends no pause.
TEST(Scaler, WritesNothingForAnHpaThatIsPaused) {
  LoopWorld world;
  const auto put = [&](const std::string& name, const std::string& annotations) {
    world.AddDeployment(name, 2);
    world.PutHpa(name, ExternalMetricJson("queue", "10"), "", annotations);
  };
  put("web", R"({"flyball.dev/paused-until":"2027-01-01T00:00:00Z"})");
  put("typo", R"({"flyball.dev/paused-until":"2027-01-01T00:00:00Z",)"
              R"("flyball.dev/schedules":"- {name: night, start: 0 25 * * *}"})");
  put("someday", R"({"flyball.dev/paused-until":"next year"})");
  put("late", R"({"flyball.dev/schedules":"- {name: night, start: 0 25 * * *}"})");
  put("freeze",
      R"({"flyball.dev/schedules":"- {name: freeze, start: 0 0 1 1 *, end: 59 23 31 12 *, )"
      R"(paused: true}\n- {name: sale, start: 0 0 1 * *, end: 0 0 2 * *, minReplicas: 100000}"})");
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  for (const char* name : {"web", "typo", "someday", "late", "freeze"}) {
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Next(name).has_value());
  }
  EXPECT_EQ(world.Replicas("web"), 2);
  EXPECT_EQ(world.Replicas("typo"), 2);
  EXPECT_EQ(world.Replicas("someday"), 2);
  EXPECT_EQ(world.Replicas("late"), 4) << "it was not paused";
  EXPECT_EQ(world.Replicas("freeze"), 2) << "only its other schedule is wrong";
}

TEST(Scaler, WritesNothingInShadow) {
  LoopWorld world(LoopWorld::InShadow());
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  for (int i = 0; i < 3; ++i) {
    const std::optional<Seen> seen = world.Next("web");
    ASSERT_TRUE(seen.has_value());
    EXPECT_EQ(seen->mode, Mode::kShadow);
    EXPECT_EQ(seen->decision.desired, 4);
  }
  for (const char* method : {"PUT", "PATCH", "POST"}) {
    EXPECT_EQ(world.api.CountRequests(method, ""), 0) << method;
  }
}

// What another controller adds counts for the policies. Another target is no addition.
TEST(Scaler, AnotherTargetIsNoChangeOfTheScale) {
  LoopWorld world(LoopWorld::InShadow());
  world.AddDeployment("web", 2);
  world.AddDeployment("big", 12);
  world.PutHpa("web", ExternalMetricJson("queue", "10"),
               R"(,"behavior":{"scaleUp":{"policies":[{"type":"Pods","value":4,)"
               R"("periodSeconds":1800}]}})");
  world.metrics.SetExternal("queue", 150000);
  world.Start();
  const auto is_at = [&](int32_t replicas) {
    return LoopWorld::Await([&] {
      return world.Next("web").has_value() && world.diary.last("web").decision.current == replicas;
    });
  };
  ASSERT_TRUE(is_at(2));
  world.api.Patch("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web",
                  R"({"spec":{"scaleTargetRef":{"name":"big"}}})");
  ASSERT_TRUE(is_at(12));
  EXPECT_TRUE(world.diary.last("web").decision.state.scale_ups.empty());
  EXPECT_EQ(world.diary.last("web").decision.desired, 15);
  world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/big", R"({"spec":{"replicas":13}})");
  ASSERT_TRUE(is_at(13));
  ASSERT_EQ(world.diary.last("web").decision.state.scale_ups.size(), 1u);
  EXPECT_EQ(world.diary.last("web").decision.state.scale_ups[0].change, 1);
}

TEST(Scaler, ANamespaceWithOneSelectorLeftAsksForItsPodsAlone) {
  LoopWorld world;
  world.metrics.SetCpu(500);
  for (const char* name : {"web", "api"}) {
    world.AddDeployment(name, 2);
    world.PutHpa(name, CpuMetricJson(50));
  }
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(LoopWorld::Await([&] { return world.diary.count("api") > 0; }));
  EXPECT_EQ(world.metrics.pods_asked(), "");
  world.api.Delete("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/api");
  ASSERT_TRUE(LoopWorld::Await(
      [&] { return world.Next("web").has_value() && world.diary.forgotten("api") == 1; }));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.metrics.pods_asked(), "app=web");
  EXPECT_EQ(world.diary.last("web").decision.outcome, Outcome::kDecided);
}

TEST(Scaler, HoldsOnUnknownReadings) {
  LoopWorld world;
  world.AddDeployment("web", 5);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", std::nullopt);
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->decision.outcome, Outcome::kMetricsFailed);
  EXPECT_EQ(world.Replicas("web"), 5);
  EXPECT_EQ(seen->decision.proposals[0].error,
            "unable to get external metric shop/queue/nil: unable to fetch metrics from external "
            "metrics API: Internal error occurred: unable to fetch metrics");
  EXPECT_EQ(world.api.CountRequests("PUT", "/scale"), 0);
}

// At 12 and, asleep, at 0; then of one that the metric wakes.
TEST(Scaler, WhileMetricsAreDeadForTenMinutesNothingChanges) {
  ScalerOptions options = LoopWorld::ActOnHpas();
  options.dialect.minor = 37;
  LoopWorld world(std::move(options));
  const std::string quick = R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";
  world.AddDeployment("busy", 12);
  world.PutHpa("busy", ExternalMetricJson("queue", "10"), quick);
  world.AddDeployment("idle", 2);
  world.PutHpa("idle", ExternalMetricJson("jobs", "10"), quick + R"(,"minReplicas":0)");
  world.metrics.SetExternal("queue", 120'000);
  world.metrics.SetExternal("jobs", 0);
  world.Start();
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("busy").has_value() && world.Next("idle").has_value() &&
           world.Replicas("idle") == 0;
  })) << world.Hpa("idle");
  ASSERT_TRUE(world.Next("idle").has_value());
  world.metrics.SetExternal("queue", std::nullopt);
  world.metrics.SetExternal("jobs", std::nullopt);
  const MonotonicTime since = world.clock.MonotonicNow();
  while (world.clock.MonotonicNow() - since < absl::Minutes(10)) {
    ASSERT_TRUE(world.Next("busy").has_value());
    ASSERT_EQ(world.Replicas("busy"), 12);
    ASSERT_EQ(world.Replicas("idle"), 0);
  }
  EXPECT_EQ(world.diary.last("busy").decision.outcome, Outcome::kMetricsFailed);
  EXPECT_EQ(world.diary.last("idle").decision.outcome, Outcome::kMetricsFailed);
  world.metrics.SetExternal("queue", 120'000);
  world.metrics.SetExternal("jobs", 25'000);
  EXPECT_TRUE(LoopWorld::Await([&] {
    return world.Next("idle").has_value() && world.Replicas("idle") == 3;
  })) << world.Hpa("idle");
  EXPECT_EQ(world.Replicas("busy"), 12);
}

TEST(Scaler, SaysThatTheTargetIsMissing) {
  LoopWorld world;
  world.AddDeployment("other", 1);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->decision.outcome, Outcome::kScaleUnknown);
  EXPECT_TRUE(absl::StrContains(seen->decision.error, "deployments.apps \"web\" not found"))
      << seen->decision.error;
}

// A target of a kind that is not watched, and its HorizontalPodAutoscaler.
void PutWidgetWithHpa(LoopWorld& world) {
  world.api.Put(R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"namespace":"shop",
      "name":"web"},"spec":{"replicas":2},"status":{"replicas":2,"selector":"app=web"}})");
  world.api.Put(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{
      "namespace":"shop","name":"web"},"spec":{"maxReplicas":9,"scaleTargetRef":{"apiVersion":
      "example.com/v1","kind":"Widget","name":"web"},"metrics":[)" +
                ExternalMetricJson("queue", "10") + "]}}");
}

TEST(Scaler, AsksForTheScaleOfKindsThatItDoesNotWatch) {
  LoopWorld world;
  PutWidgetWithHpa(world);
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(seen->scale_written) << seen->decision.error << seen->scale_error;
  EXPECT_TRUE(absl::StrContains(world.api.Get("/apis/example.com/v1/namespaces/shop/widgets/web"),
                                R"("replicas":4)"));
}

TEST(Scaler, WritesAgainAfterAConflictThatLeftTheReplicas) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.api.Inject({.method = "PUT",
                    .part = "/scale",
                    .times = 2,
                    .status = 409,
                    .reason = "Conflict",
                    .message = "the object has been modified"});
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(seen->scale_written) << seen->scale_error;
  EXPECT_EQ(world.Replicas("web"), 4);
  EXPECT_EQ(world.scaler->stats().conflicts, 2u);
}

// Changes the Deployment `web` right before its scale is written for the first time.
void PatchBeforeFirstWrite(LoopWorld& world, const std::string& patch) {
  world.api.OnRequest([&world, patch, done = false](const http::HttpCall& call) mutable {
    if (done || call.method != "PUT" || !absl::StrContains(call.target, "/scale")) return;
    done = true;
    world.api.Patch("/apis/apps/v1/namespaces/shop/deployments/web", patch);
  });
}

TEST(Scaler, DropsADecisionWhenAConflictChangedTheReplicas) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  // Somebody scales to 7 right before the first write.
  PatchBeforeFirstWrite(world, R"({"spec":{"replicas":7}})");
  world.Start();
  const std::optional<Seen> dropped = world.Next("web");
  ASSERT_TRUE(dropped.has_value());
  EXPECT_FALSE(dropped->scale_written);
  EXPECT_EQ(dropped->scale_error, "the target has 7 replicas now, not 2");
  // It is decided anew at once, from what is there now: 35 / 10 are 4 replicas.
  ASSERT_TRUE(world.diary.AwaitCount("web", 2, absl::Seconds(30)));
  EXPECT_EQ(world.diary.at("web", 2).decision.current, 7);
  EXPECT_EQ(world.Replicas("web"), 4);
}

TEST(Scaler, DropsARemovalWhenAConflictChangedTheStatus) {
  LoopWorld world;
  world.AddDeployment("web", 22);  // of at most 20
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 200000);
  // A pod is gone right before the first write.
  PatchBeforeFirstWrite(world, R"({"status":{"replicas":21}})");
  world.Start();
  const std::optional<Seen> dropped = world.Next("web");
  ASSERT_TRUE(dropped.has_value());
  EXPECT_FALSE(dropped->scale_written);
  EXPECT_EQ(dropped->scale_error, "the target has other pods now than it was decided on");
  ASSERT_TRUE(world.diary.AwaitCount("web", 2, absl::Seconds(30)));  // decided anew at once
  EXPECT_EQ(world.Replicas("web"), 20);
}

TEST(Scaler, WritesNothingBehindTheFence) {
  class Fenced : public SoleOwner {
   public:
    bool MayWrite(const AutoscalerKey&, MonotonicTime) const override { return false; }
  };
  Fenced fenced;
  LoopWorld world;
  world.ownership = &fenced;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->scale_error, "another replica may own it");
  EXPECT_TRUE(world.Next("web").has_value());
  for (const char* method : {"PUT", "PATCH", "POST"}) {
    EXPECT_EQ(world.api.CountRequests(method, ""), 0) << method;
  }
}

TEST(Scaler, SteadyInputsCostNoDecisionAndNoWrite) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", absl::StrCat(ExternalMetricJson("queue", "10"), ",", CpuMetricJson(50)));
  world.metrics.SetExternal("queue", 20000);
  world.metrics.SetCpu(500);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  std::optional<Seen> seen;
  for (int i = 0; i < 4; ++i) {
    seen = world.Next("web");
    ASSERT_TRUE(seen.has_value());
    EXPECT_TRUE(seen->unchanged) << i << ConditionsOf(seen->decision);
  }
  EXPECT_EQ(seen->decision.now, world.clock.WallNow());
  EXPECT_EQ(world.api.CountRequests("PUT", "/scale"), 0);
  EXPECT_TRUE(LoopWorld::Await([&] { return world.api.CountRequests("PATCH", "/status") == 1; }));
}

ScalerOptions EachSecond() {
  ScalerOptions options = LoopWorld::ActOnHpas();
  options.sync_period = absl::Seconds(1);
  return options;
}

TEST(Scaler, AFailureIsToldAtOnce) {
  LoopWorld world(EachSecond());
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", std::nullopt);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  // The clock stands still.
  EXPECT_TRUE(LoopWorld::Await([&] {
    return absl::StrContains(world.Hpa("web"), "FailedGetExternalMetric");
  })) << world.Hpa("web");
}

TEST(Scaler, WithoutAStatusIntervalNoStatusWaits) {
  ScalerOptions options = EachSecond();
  options.status_interval = absl::ZeroDuration();
  LoopWorld world(options);
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  for (const char* current : {R"("currentReplicas":2)", R"("currentReplicas":4)"}) {
    ASSERT_TRUE(world.Next("web").has_value());
    EXPECT_TRUE(LoopWorld::Await([&] { return absl::StrContains(world.Hpa("web"), current); }))
        << world.Hpa("web");
  }
}

TEST(Scaler, AStopWritesTheStatusesThatWait) {
  LoopWorld world(EachSecond());
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.api.CountRequests("PATCH", "/status"), 0);
  world.scaler->Stop();
  EXPECT_TRUE(absl::StrContains(world.Hpa("web"), R"("desiredReplicas":4)")) << world.Hpa("web");
}

TEST(Scaler, TwoAutoscalersOfTheSamePodsBothStop) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.api.Put(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{
      "namespace":"shop","name":"rival"},"spec":{"maxReplicas":9,"scaleTargetRef":{"apiVersion":
      "apps/v1","kind":"Deployment","name":"web"},"metrics":[)" +
                ExternalMetricJson("queue", "10") + "]}}");
  world.metrics.SetExternal("queue", 20000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  const std::optional<Seen> seen = world.Next("web");
  ASSERT_TRUE(seen.has_value());
  EXPECT_TRUE(absl::StrContains(seen->decision.error,
                                "pods by selector app=web are controlled by multiple HPAs: "
                                "[shop/rival shop/web]"))
      << seen->decision.error;
  // When the rival is gone the other one goes on.
  world.api.Delete("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/rival");
  ASSERT_TRUE(LoopWorld::Await([&] {
    const std::optional<Seen> next = world.Next("web");
    return next.has_value() && next->decision.outcome == Outcome::kDecided;
  }));
  EXPECT_TRUE(LoopWorld::Await([&] {  // with its next slot, which may have begun just before
    world.clock.Advance(absl::Seconds(1));
    return world.diary.forgotten("rival") == 1;
  }));
}

TEST(Scaler, FollowsANewSpec) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 20000);
  world.metrics.SetExternal("other", 70000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.PutHpa("web", ExternalMetricJson("other", "10"));
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && world.Replicas("web") == 4;
  }));  // 2 -> 7 wanted; at most 4 at once
}

TEST(Scaler, ARecreatedObjectKeepsNothingOfTheOldStatus) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(
      LoopWorld::Await([&] { return absl::StrContains(world.Hpa("web"), "lastScaleTime"); }));
  world.metrics.SetExternal("queue", 40000);  // what 4 replicas are for
  // Both before its next slot.
  world.api.Delete("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web");
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && absl::StrContains(world.Hpa("web"), "conditions");
  }));
  EXPECT_FALSE(absl::StrContains(world.Hpa("web"), "lastScaleTime")) << world.Hpa("web");
}

TEST(Scaler, TakesTheStatusOverFromTheStockController) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"), "", R"({"flyball.dev/mode":"shadow"})");
  world.metrics.SetExternal("queue", 20000);  // what 2 replicas are for
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_EQ(world.diary.last("web").mode, Mode::kShadow);
  world.api.Patch("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web",
                  R"({"metadata":{"annotations":{"flyball.dev/mode":"act"}},"status":{)"
                  R"("currentReplicas":2,"desiredReplicas":2,)"
                  R"("lastScaleTime":"2025-12-24T12:00:00Z"}})");
  ASSERT_TRUE(LoopWorld::Await([&] {
    return world.Next("web").has_value() && absl::StrContains(world.Hpa("web"), "conditions");
  }));
  EXPECT_TRUE(absl::StrContains(world.Hpa("web"), R"("lastScaleTime":"2025-12-24T12:00:00Z")"))
      << world.Hpa("web");
}

TEST(Scaler, LeavesConditionsOfOthersWhereTheyAre) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 20000);  // what 2 replicas are for
  world.Start();
  const auto has = [&world](const char* text) { return absl::StrContains(world.Hpa("web"), text); };
  const char path[] = "/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web";
  ASSERT_TRUE(world.Next("web").has_value());
  ASSERT_TRUE(LoopWorld::Await([&] { return has("ReadyForNewScale"); }));
  const auto status = nlohmann::json::parse(world.Hpa("web"))["status"];
  auto conditions = status["conditions"];
  const auto foreign = nlohmann::json::parse(
      R"({"type":"Approved","status":"True","reason":"ByHand","message":"by Ann"})");
  conditions.insert(conditions.begin(), foreign);
  world.api.Patch(path, nlohmann::json{{"status", {{"conditions", conditions}}}}.dump());
  world.metrics.SetExternal("queue", 35000);
  ASSERT_TRUE(LoopWorld::Await([&] { return world.Next("web") && has(R"("desiredReplicas":4)"); }));
  EXPECT_EQ(nlohmann::json::parse(world.Hpa("web"))["status"]["conditions"][0], foreign);
  // One that its owner took away does not come back.
  conditions = nlohmann::json::parse(world.Hpa("web"))["status"]["conditions"];
  conditions.erase(0);
  world.api.Patch(path, nlohmann::json{{"status", {{"conditions", conditions}}}}.dump());
  world.metrics.SetExternal("queue", 75000);
  ASSERT_TRUE(LoopWorld::Await([&] { return world.Next("web") && has(R"("desiredReplicas":8)"); }));
  EXPECT_FALSE(has("Approved")) << world.Hpa("web");
}

// The watch has missed what comes between the version that expired and the new list.
TEST(Scaler, WritesNothingForWhatEndsWhileItIsListedAnew) {
  absl::Notification listing, go_on;
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutHpa("web", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 15000);
  world.Start();
  ASSERT_TRUE(world.Next("web").has_value());
  world.api.OnRequest([&](const http::HttpCall& call) {
    if (!absl::StrContains(call.target, "horizontalpodautoscalers?") ||
        absl::StrContains(call.target, "watch=1") || listing.HasBeenNotified()) {
      return;
    }
    listing.Notify();
    go_on.WaitForNotification();
  });
  world.api.ExpireVersions();
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(200));
    return listing.HasBeenNotified();
  }));
  world.api.Delete("/apis/autoscaling/v2/namespaces/shop/horizontalpodautoscalers/web");
  world.metrics.SetExternal("queue", 75000);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(world.Next("web").has_value());
  EXPECT_EQ(world.Replicas("web"), 2);
  go_on.Notify();
  EXPECT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(200));
    return world.diary.forgotten("web") == 1;
  }));
}

TEST(Scaler, StopsWhileAScaleIsAskedFor) {
  LoopWorld world;
  PutWidgetWithHpa(world);
  absl::Notification asked, go_on;
  world.api.OnRequest([&](const http::HttpCall& call) {
    if (call.method != "GET" || !absl::StrContains(call.target, "/scale")) return;
    if (!asked.HasBeenNotified()) asked.Notify();
    go_on.WaitForNotification();
  });
  world.Start();
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Seconds(1));
    return asked.HasBeenNotified();
  }));
  std::thread stop([&] { world.scaler->Stop(); });
  // The pools are on their way out when the answer comes and would ask for the metrics. What the
  // answer found still at work may decide on it, once.
  EXPECT_TRUE(LoopWorld::Await([&] { return world.api.watches() == 0; }));
  go_on.Notify();
  stop.join();
  const int decided = world.diary.count("web");
  EXPECT_LE(decided, 1);
  const int asked_for = world.api.CountRequests("GET", "/scale");
  world.clock.Advance(absl::Minutes(5));
  EXPECT_EQ(world.diary.count("web"), decided);
  EXPECT_EQ(world.api.CountRequests("GET", "/scale"), asked_for);
}

TEST(Scaler, AnObjectThatCannotBeReadIsNotDecided) {
  LoopWorld world;
  world.AddDeployment("web", 2);
  world.PutOwn("web", ExternalMetricJson("queue", "10"), R"(,"cadence":{"interval":"1ms"})");
  world.PutHpa("other", ExternalMetricJson("queue", "10"));
  world.metrics.SetExternal("queue", 35000);
  world.Start();
  ASSERT_TRUE(world.Next("other").has_value());
  EXPECT_EQ(world.diary.count("web"), 0);
}

// Two namespaces with watches of their own: `web` is in one, `old` in the other.
class TwoNamespaces : public LoopWorld {
 public:
  TwoNamespaces() : LoopWorld(Options()) {
    metrics.SetExternal("queue", 40'000);
    AddDeployment("web", 2);
    AddDeployment("old", 2, "gone");
    const std::string no_window = R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";
    PutHpa("web", ExternalMetricJson("queue", "10"), no_window);
    PutHpa("old", ExternalMetricJson("queue", "10"), no_window, "{}", "gone");
  }

  // As if the RoleBinding of the one namespace were gone.
  void Refuse(const std::string& part, int times = 1'000'000) {
    api.Inject(
        {.part = part, .times = times, .status = 403, .reason = "Forbidden", .message = "no"});
  }
  bool Decide(const std::string& name, int times) {
    for (int i = 0; i < times; ++i) {
      if (!Next(name).has_value()) return false;
    }
    return true;
  }

 private:
  static ScalerOptions Options() {
    ScalerOptions options = ActOnHpas();
    options.namespaces = {"gone", "shop"};
    return options;
  }
};

TEST(Scaler, ANamespaceThatIsNotReadAnyMoreStopsNoOther) {
  TwoNamespaces world;
  world.Start();
  ASSERT_TRUE(world.Decide("web", 2));
  ASSERT_EQ(world.Replicas("web"), 4);
  const int refused = world.api.faults();
  world.Refuse("/namespaces/gone/");
  world.api.CutWatches();
  ASSERT_TRUE(LoopWorld::Await([&] {
    world.clock.Advance(absl::Milliseconds(100));
    return world.api.faults() >= refused + 4;  // the four watches
  }));
  world.metrics.SetExternal("queue", 20'000);
  ASSERT_TRUE(world.Decide("web", 2));
  EXPECT_EQ(world.Replicas("web"), 2) << world.diary.last("web").scale_error;
  ASSERT_TRUE(world.Decide("web", 6));  // more than a minute
  world.metrics.SetExternal("queue", 80'000);
  ASSERT_TRUE(world.Decide("web", 2));
  EXPECT_EQ(world.Replicas("web"), 8) << world.diary.last("web").decision.error;
  EXPECT_NE(world.diary.last("old").decision.error, "");
}

TEST(Scaler, ANamespaceThatIsNotReadFromTheStartStopsNoOther) {
  TwoNamespaces world;
  world.Refuse("/namespaces/gone/pods");
  world.Start();
  ASSERT_TRUE(world.Decide("web", 3)) << world.scaler->Ready();
  EXPECT_EQ(world.Replicas("web"), 4);
  EXPECT_TRUE(LoopWorld::Await([&] { return world.scaler->Ready().ok(); }));
  EXPECT_EQ(world.diary.count("old"), 0) << "its pods are not known";
}

TEST(Scaler, ANamespaceIsDecidedOnceItsPodsAreListed) {
  TwoNamespaces world;
  world.Refuse("/namespaces/gone/pods", 4);
  world.Start();
  const std::optional<Seen> seen = world.Next("old");
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(world.api.faults(), 4);
  EXPECT_EQ(seen->decision.error, "");
  EXPECT_EQ(seen->decision.desired, 4);
}

TEST(Scaler, OneQueryServesAllThatAskTheSame) {
  LoopWorld world;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = absl::StrCat("web-", i);
    world.AddDeployment(name, 1);
    world.PutHpa(name, absl::StrCat(ExternalMetricJson("queue", "10"), ",", CpuMetricJson(50), ",",
                                    PodsMetricJson("rps", "10")));
  }
  world.metrics.SetExternal("queue", 10000);
  world.metrics.SetCpu(500);
  world.metrics.SetPods("rps", 10000);
  world.Start();
  ASSERT_TRUE(LoopWorld::Await([&] { return world.scaler->Ready().ok(); }));
  ASSERT_TRUE(world.Next("web-0").has_value());
  // While it waited for the first, a busy machine may have been led into other rounds, of which a
  // part of the thousand had its turn only.
  const auto asked = [&](const char* kind) { return world.metrics.asked(kind); };
  const auto all_decided = [&] {
    for (int i = 0; i < 1000; ++i) {
      if (world.diary.count(absl::StrCat("web-", i)) == 0) return false;
    }
    return true;
  };
  EXPECT_TRUE(LoopWorld::Await(all_decided)) << world.diary.total() << " decisions";
  for (const char* kind : {"external", "resource", "pods"}) {
    EXPECT_GT(asked(kind), 0) << kind;
    EXPECT_LE(asked(kind), 10) << kind << ", " << world.diary.total() << " decisions";
  }
  for (const int i : {0, 500, 999}) {
    EXPECT_EQ(world.diary.last(absl::StrCat("web-", i)).decision.outcome, Outcome::kDecided)
        << world.diary.last(absl::StrCat("web-", i)).decision.error;
  }
}

// If it `hangs`, it answers no question for the version until it is shut down.
class VersionHangs : public http::HttpTransport {
 public:
  VersionHangs(std::unique_ptr<http::HttpTransport> server, bool hangs, absl::Notification& asked)
      : server_(std::move(server)), hangs_(hangs), asked_(asked) {}
  ~VersionHangs() override {
    absl::MutexLock lock(&mutex_);
    EXPECT_FALSE(asking_) << "it ends during a call";
    shut_ = true;
    mutex_.Await(absl::Condition(
        +[](bool* asking) { return !*asking; }, &asking_));
  }
  absl::StatusOr<http::HttpAnswer> Do(const http::HttpCall& call) override {
    if (!hangs_ || call.target != "/version") return server_->Do(call);
    absl::MutexLock lock(&mutex_);
    asking_ = true;
    asked_.Notify();
    mutex_.Await(absl::Condition(&shut_));
    asking_ = false;
    return absl::CancelledError("shutting down");
  }
  absl::Status Stream(const http::HttpCall& call,
                      const std::function<bool(absl::string_view)>& on_data) override {
    return server_->Stream(call, on_data);
  }
  void Shutdown() override {
    server_->Shutdown();
    absl::MutexLock lock(&mutex_);
    shut_ = true;
  }

 private:
  const std::unique_ptr<http::HttpTransport> server_;
  const bool hangs_;
  absl::Notification& asked_;
  absl::Mutex mutex_;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  bool asking_ ABSL_GUARDED_BY(mutex_) = false;
};

// Whether a scaler starts where no more threads than these can be made. If the version `hangs`, it
// is destroyed while it asks for it.
bool StartsWith(int threads, bool hangs) {
  kube::FakeApiServer api;
  SimulatedClock clock(kLoopStart);
  adapter::FakeDirectory directory(LoopCluster());
  SoleOwner owner;
  absl::Notification asked;
  const auto connect = [&]() -> absl::StatusOr<std::unique_ptr<http::HttpTransport>> {
    return std::make_unique<VersionHangs>(*api.Connector()(), hangs, asked);
  };
  ScalerOptions options;
  options.dialect.minor.reset();
  Scaler scaler({.make_transport = connect,
                 .directory = directory,
                 .providers = [] { return adapter::Providers(); },
                 .clock = clock,
                 .ownership = owner,
                 .observers = {}},
                options);
  const ThreadLimit limit(threads);
  const absl::Status started = UnlessNoThread([&] { return scaler.Start(); });
  EXPECT_TRUE(started.ok() || absl::IsResourceExhausted(started)) << started;
  if (hangs) asked.WaitForNotification();
  return started.ok();
}

// The last thread that it makes is the one of what is due; the one before asks for the version.
TEST(Scaler, AStartThatFailsAtItsLastThreadEndsTheOthers) {
  int threads = 0;
  while (!StartsWith(threads, false)) ASSERT_LT(++threads, 1000);
  EXPECT_FALSE(StartsWith(threads - 1, true));
}

}  // namespace
}  // namespace flyball::scaler
