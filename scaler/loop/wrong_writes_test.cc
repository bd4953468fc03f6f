// Courses of events that once made a wrong count be written, with as many replicas as each needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "http/client/transport.h"
#include "scaler/testing/simulation.h"

namespace flyball::scaler {
namespace {

using testing::IsEmpty;

constexpr char kAllAtOnce[] = R"("stabilizationWindowSeconds":0,"policies":[{"type":"Percent",)"
                              R"("value":100,"periodSeconds":15}])";
constexpr char kOnePodInTenMinutes[] =
    R"("stabilizationWindowSeconds":0,"policies":[{"type":"Pods",)"
    R"("value":1,"periodSeconds":600}])";

AutoscalerKey Hpa(const std::string& ns = "shop", const std::string& name = "web") {
  return {.kind = AutoscalerKind::kHpa, .ns = ns, .name = name};
}
AutoscalerKey Own(const std::string& ns = "shop", const std::string& name = "web") {
  return {.kind = AutoscalerKind::kOwn, .ns = ns, .name = name};
}
SimulatedCluster::Target TargetOf(const AutoscalerKey& key) { return {key.ns, key.name}; }

std::string Bounds(int min, int max) {
  return absl::StrCat(R"(,"minReplicas":)", min, R"(,"maxReplicas":)", max);
}
std::string ScaleDown(const std::string& rules) {
  return absl::StrCat(R"(,"behavior":{"scaleDown":{)", rules, "}}");
}

class WrongWrites : public testing::Test {
 protected:
  // A target with its autoscaler, that has been decided when this returns.
  void Make(const AutoscalerText& text, int replicas) {
    sim.cluster.PutDeployment(TargetOf(text.key), replicas);
    sim.cluster.PutAutoscaler(text.Json());
  }
  int Replicas(const AutoscalerKey& key) const { return sim.cluster.Replicas(TargetOf(key)); }

  // By `metrics` the count is at its minimum of 8; `edited` asks for these 8, with a lower minimum.
  void ExpectHeldAfterAnEdit(const std::string& metrics, const std::string& edited) {
    sim.AddReplica();
    Make({.key = Hpa(),
          .metrics = metrics,
          .spec = Bounds(8, 20) + ScaleDown(kAllAtOnce),
          .annotations = ""},
         8);
    sim.Run(absl::Seconds(20));
    ASSERT_EQ(Replicas(Hpa()), 8);
    sim.cluster.PutAutoscaler(AutoscalerText{.key = Hpa(),
                                             .metrics = edited,
                                             .spec = Bounds(1, 20) + ScaleDown(kAllAtOnce),
                                             .annotations = ""}
                                  .Json());
    sim.Run(absl::Seconds(20));
    EXPECT_EQ(Replicas(Hpa()), 8);
    EXPECT_THAT(sim.judge.wrong(), IsEmpty());
  }

  Simulation sim{1};
};

TEST_F(WrongWrites, AReadingBelongsToItsMetricAfterAnEditOfTheSpec) {
  const SimulatedCluster::Target web = TargetOf(Hpa());
  sim.Set(web, 'c', 30);       // of 1000 that are requested
  sim.Set(web, 'm', 100'000);  // exactly at its target, once that is asked for
  ExpectHeldAfterAnEdit(CpuOf(50), MemoryOf(100));
}

TEST_F(WrongWrites, SoItDoesAfterAnEditFromMemoryToCpu) {
  const SimulatedCluster::Target web = TargetOf(Hpa());
  sim.Set(web, 'm', 1'000);
  sim.Set(web, 'c', 500);  // exactly at its target, once that is asked for
  ExpectHeldAfterAnEdit(MemoryOf(100), CpuOf(50));
}

TEST_F(WrongWrites, AHandOverForgetsNoChange) {
  const std::vector<std::string> spaces = {"n0", "n1", "n2", "n3", "n4", "n5"};
  sim.AddReplica(/*shards=*/4);
  for (const std::string& ns : spaces) {
    sim.Set({ns, "web"}, 'a', 10'000);
    Make({.key = Hpa(ns),
          .metrics = MetricOf('a', "web", 10),
          .spec = Bounds(1, 20) + ScaleDown(kOnePodInTenMinutes),
          .annotations = ""},
         8);
  }
  sim.Run(absl::Seconds(60));
  SimulatedReplica& second = sim.AddReplica(/*shards=*/4);
  sim.Run(absl::Seconds(120));
  int taken = 0;
  for (const std::string& ns : spaces) {
    EXPECT_EQ(Replicas(Hpa(ns)), 7) << ns;
    if (second.Owns(Hpa(ns))) ++taken;
  }
  EXPECT_GT(taken, 0);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// While a shard is being handed over both replicas decide what is advised, the former owner without
// what it remembered. That must not be what the next owner gets.
TEST(HandOver, WhatIsAdvisedMeanwhileReplacesNothing) {
  const std::vector<std::string> spaces = {"n0", "n1", "n2", "n3", "n4", "n5"};
  for (int second = 14; second < 26; ++second) {
    Simulation sim(1);
    const auto set_mode = [&](const std::string& mode) {
      for (const std::string& ns : spaces) {
        sim.cluster.PutAutoscaler(
            AutoscalerText{.key = Hpa(ns),
                           .metrics = MetricOf('a', "web", 10),
                           .spec = Bounds(1, 20) + ScaleDown(kOnePodInTenMinutes),
                           .annotations = absl::StrCat(R"("flyball.dev/mode":")", mode, "\"")}
                .Json());
      }
    };
    sim.AddReplica(/*shards=*/4);
    for (const std::string& ns : spaces) {
      sim.Set({ns, "web"}, 'a', 10'000);
      sim.cluster.PutDeployment({ns, "web"}, 8);
    }
    set_mode("act");
    sim.Run(absl::Seconds(30));
    sim.AddReplica(/*shards=*/4);
    sim.Run(absl::Seconds(second));
    set_mode("advise");
    sim.Run(absl::Seconds(10));
    set_mode("act");
    sim.Run(absl::Seconds(60));
    for (const std::string& ns : spaces) EXPECT_EQ(sim.cluster.Replicas({ns, "web"}), 7) << ns;
    EXPECT_THAT(sim.judge.wrong(), IsEmpty()) << "advised from second " << second << " on";
  }
}

class BrokenWatch : public WrongWrites, public testing::WithParamInterface<AutoscalerKind> {
 protected:
  const AutoscalerKey key_{.kind = GetParam(), .ns = "shop", .name = "web"};
  const char* resource_ =
      GetParam() == AutoscalerKind::kHpa ? "horizontalpodautoscalers" : "autoscalers";

  AutoscalerText Text(const std::string& spec = "") const {
    return {.key = key_,
            .metrics = MetricOf('a', "web", 10),
            .spec = Bounds(1, 20) + spec,
            .annotations = ""};
  }
  void Begin(const absl::Status& why) {
    sim.AddReplica();
    sim.Set({"shop", "web"}, 'a', 20'000);
    Make(Text(), 2);
    sim.Run(absl::Seconds(20));
    sim.replica(0).BreakWatch(resource_, why);
  }
};

TEST_P(BrokenWatch, NothingIsWrittenForWhatIsGone) {
  Begin(absl::PermissionDeniedError("forbidden"));
  sim.cluster.DeleteAutoscaler(key_);
  for (const absl::Duration wait : {absl::Seconds(1), absl::Seconds(30), absl::Minutes(5)}) {
    sim.Run(wait);
    sim.Set({"shop", "web"}, 'a', 40'000);
    sim.Run(absl::Seconds(10));
    EXPECT_EQ(sim.cluster.Replicas({"shop", "web"}), 2);
    sim.Set({"shop", "web"}, 'a', 20'000);
    sim.Run(absl::Seconds(10));
  }
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_P(BrokenWatch, NothingIsWrittenForWhatIsNotActedForAnyMore) {
  Begin(absl::UnavailableError("connection refused"));
  AutoscalerText text = Text(key_.kind == AutoscalerKind::kOwn ? R"(,"paused":true)" : "");
  if (key_.kind == AutoscalerKind::kHpa) text.annotations = R"("flyball.dev/mode":"shadow")";
  sim.cluster.PutAutoscaler(text.Json());
  sim.Set({"shop", "web"}, 'a', 40'000);
  sim.Run(absl::Minutes(3));
  EXPECT_EQ(sim.cluster.Replicas({"shop", "web"}), 2);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_P(BrokenWatch, WhatIsAsItWasIsStillScaledUp) {
  Begin(absl::UnavailableError("connection refused"));
  sim.Run(absl::Minutes(10));
  sim.Set({"shop", "web"}, 'a', 40'000);
  sim.Run(absl::Seconds(10));
  EXPECT_EQ(sim.cluster.Replicas({"shop", "web"}), 4);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_P(BrokenWatch, WhatWasEditedWaitsForTheWatch) {
  Begin(absl::UnavailableError("connection refused"));
  AutoscalerText text = Text();
  text.spec = Bounds(1, 3);
  sim.cluster.PutAutoscaler(text.Json());
  sim.Set({"shop", "web"}, 'a', 40'000);
  sim.Run(absl::Minutes(3));
  EXPECT_EQ(sim.cluster.Replicas({"shop", "web"}), 2);
  sim.replica(0).HealWatch(resource_, /*list_anew=*/true);
  sim.Run(absl::Seconds(10));
  EXPECT_EQ(sim.cluster.Replicas({"shop", "web"}), 3);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, BrokenWatch,
                         testing::Values(AutoscalerKind::kHpa, AutoscalerKind::kOwn),
                         [](const auto& info) {
                           return info.param == AutoscalerKind::kHpa ? "Hpa" : "Own";
                         });

// None of the pods is owned by the target: from the edit on its metric has no pods.
TEST_F(WrongWrites, AnEditOfThePodSelectionWaitsForTheWatchToo) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(TargetOf(Hpa()), 'c', 500);  // of 1000 that are requested
  AutoscalerText text{.key = Hpa(),
                      .metrics = CpuOf(50),
                      .spec = Bounds(1, 20) + ScaleDown(kAllAtOnce),
                      .annotations = R"("flyball.dev/pod-selection":"LabelSelector")"};
  Make(text, 4);
  sim.Run(absl::Seconds(20));
  ASSERT_EQ(Replicas(Hpa()), 4);
  replica.BreakWatch("horizontalpodautoscalers", absl::UnavailableError("connection reset"));
  text.annotations = R"("flyball.dev/pod-selection":"OwnerReferences")";
  sim.cluster.PutAutoscaler(text.Json());
  sim.Set(TargetOf(Hpa()), 'c', 100);
  sim.Run(absl::Seconds(20));
  EXPECT_EQ(Replicas(Hpa()), 4) << sim.judge.LastDecisions(Hpa());
  replica.HealWatch("horizontalpodautoscalers", /*list_anew=*/true);
  sim.Run(absl::Seconds(20));
  EXPECT_EQ(Replicas(Hpa()), 4) << sim.judge.LastDecisions(Hpa());
}

TEST_F(WrongWrites, ADefinitionThatIsGoneEndsItsObjectsAtOnce) {
  sim.AddReplica();
  sim.Set({"shop", "web"}, 'a', 20'000);
  Make(
      {.key = Own(), .metrics = MetricOf('a', "web", 10), .spec = Bounds(1, 20), .annotations = ""},
      2);
  sim.Run(absl::Seconds(20));
  sim.replica(0).BreakWatch("autoscalers", absl::NotFoundError("404 page not found"));
  sim.cluster.DeleteAutoscaler(Own());
  sim.Set({"shop", "web"}, 'a', 40'000);
  sim.Run(absl::Seconds(30));
  EXPECT_EQ(Replicas(Own()), 2);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_F(WrongWrites, AnAutoscalerThatIsMadeAnewWhileItIsForgottenIsDecided) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set({"shop", "web"}, 'a', 20'000);
  const AutoscalerText text = {
      .key = Hpa(), .metrics = MetricOf('a', "web", 10), .spec = Bounds(1, 20), .annotations = ""};
  Make(text, 2);
  sim.Run(absl::Seconds(20));
  bool once = true;
  replica.on_forgotten = [&](const AutoscalerKey&) {
    if (!std::exchange(once, false)) return;
    sim.cluster.PutAutoscaler(text.Json());
    replica.PumpNow();
  };
  sim.cluster.DeleteAutoscaler(Hpa());
  sim.Run(absl::Seconds(20));
  ASSERT_FALSE(once);
  sim.Set({"shop", "web"}, 'a', 40'000);
  sim.Run(absl::Seconds(20));
  EXPECT_EQ(Replicas(Hpa()), 4);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_F(WrongWrites, ReplicasWithOtherNumbersOfShardsAreNeverTwoOwners) {
  const std::vector<std::string> spaces = {"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"};
  for (const std::string& ns : spaces) {
    sim.Set({ns, "web"}, 'a', 10'000);
    Make({.key = Hpa(ns),
          .metrics = MetricOf('a', "web", 10),
          .spec = Bounds(1, 20) + ScaleDown(kOnePodInTenMinutes),
          .annotations = ""},
         8);
  }
  sim.AddReplica(/*shards=*/4);
  sim.AddReplica(/*shards=*/4);
  sim.Run(absl::Seconds(60));
  // A roll-out to another number: new ones come before old ones go.
  sim.AddReplica(/*shards=*/6);
  sim.Run(absl::Seconds(40));
  EXPECT_FALSE(sim.replica(2).Owns(Hpa("n0")));
  sim.replica(0).Stop();
  sim.Run(absl::Seconds(40));
  sim.AddReplica(/*shards=*/6);
  sim.replica(1).Stop();
  sim.Run(absl::Seconds(40));
  for (const std::string& ns : spaces) {
    EXPECT_EQ(Replicas(Hpa(ns)), 7) << ns;
    EXPECT_TRUE(sim.replica(2).Owns(Hpa(ns)) || sim.replica(3).Owns(Hpa(ns))) << ns;
  }
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// As kubectl delete leases --all does. The rounds of the two replicas are a second apart, so that
// each of them is sometimes the first to see it.
TEST_F(WrongWrites, LeasesThatAreAllDeletedGetNoTwoOwners) {
  sim.Set({"shop", "web"}, 'a', 20'000);
  sim.AddReplica();
  Make(
      {.key = Hpa(), .metrics = MetricOf('a', "web", 10), .spec = Bounds(1, 20), .annotations = ""},
      2);
  sim.Run(absl::Seconds(1));
  sim.AddReplica();
  for (int i = 0; i < 20; ++i) {
    sim.Run(absl::Seconds(40) + i * absl::Milliseconds(130));
    EXPECT_TRUE(sim.replica(0).MayWrite(Hpa()) || sim.replica(1).MayWrite(Hpa())) << i;
    sim.leases.clear();
  }
  sim.Run(absl::Seconds(5));
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_F(WrongWrites, WhoOnlyAdvisesRemembersWhatItActsOnAcrossOwners) {
  ScalerOptions options = Simulation::ActOnAll();
  options.mode = Mode::kAdvise;
  options.act_on_hpas = false;
  Simulation advising(1, options);
  advising.Set({"shop", "web"}, 'a', 10'000);
  advising.cluster.PutDeployment({"shop", "web"}, 8);
  advising.cluster.PutAutoscaler(
      AutoscalerText{.key = Own(),
                     .metrics = MetricOf('a', "web", 10),
                     .spec = Bounds(1, 20) + ScaleDown(kOnePodInTenMinutes) + R"(,"mode":"Act")",
                     .annotations = ""}
          .Json());
  advising.AddReplica();
  advising.AddReplica();
  advising.Run(absl::Seconds(60));
  ASSERT_EQ(advising.cluster.Replicas({"shop", "web"}), 7);
  advising.replica(advising.replica(0).MayWrite(Own()) ? 0 : 1).Stop();
  advising.Run(absl::Seconds(60));
  EXPECT_EQ(advising.cluster.Replicas({"shop", "web"}), 7);
  EXPECT_THAT(advising.judge.wrong(), IsEmpty());
}

TEST_F(WrongWrites, WhoWakesATargetAndDiesLeavesItItsCooldown) {
  const SimulatedCluster::Target jobs = {"shop", "job"};
  sim.AddReplica();
  Make({.key = Own(), .metrics = "", .spec = FollowingJobs("1s", 60), .annotations = ""}, 0);
  sim.Run(absl::Seconds(20));
  ASSERT_EQ(Replicas(Own()), 0);
  // It dies before it can write down why.
  sim.cluster.on_scale_write = [this](const auto&) { sim.replica(0).Kill(); };
  sim.cluster.PutDeployment(jobs, 2);
  sim.Run(absl::Seconds(2));
  ASSERT_EQ(Replicas(Own()), 1);
  sim.cluster.on_scale_write = [](const auto&) {};
  sim.cluster.DeleteDeployment(jobs);
  sim.AddReplica();
  sim.Run(absl::Seconds(56));
  EXPECT_EQ(Replicas(Own()), 1);
  sim.Run(absl::Seconds(60));
  EXPECT_EQ(Replicas(Own()), 0);
}

// Of one with onSample: what it reads stays the same until a moment of the period, and ends then.
struct SteadySamples {
  std::string metrics, spec;
  int32_t before = 0, after = 0;                // replicas
  std::function<void(Simulation&)> begin, end;  // of what it reads
};

// Between two decisions nothing is news. The end is news, but what was read counts until then for 6
// seconds more. So it does if the owner has just handed over.
void ExpectToLastUntilItsEnd(const SteadySamples& samples) {
  const SimulatedCluster::Target web = {"shop", "web"};
  ScalerOptions options = Simulation::ActOnAll();
  options.sync_period = absl::Seconds(15);
  for (int run = 0; run < 30; ++run) {
    const int second = run / 2;
    const bool hand_over = run % 2 == 1;
    Simulation sim(1, options);
    sim.AddReplica();
    samples.begin(sim);
    sim.cluster.PutDeployment(web, samples.before);
    sim.cluster.PutAutoscaler(AutoscalerText{
        .key = Own(), .metrics = samples.metrics, .spec = samples.spec, .annotations = ""}
                                  .Json());
    sim.Run(absl::Seconds(40 + second));
    ASSERT_EQ(sim.cluster.Replicas(web), samples.before) << run;
    if (hand_over) {
      sim.AddReplica();
      sim.replica(0).Stop();
    }
    samples.end(sim);
    sim.Run(absl::Seconds(5));
    EXPECT_EQ(sim.cluster.Replicas(web), samples.before) << run << "\n"
                                                         << sim.judge.LastDecisions(Own());
    sim.Run(absl::Seconds(40));
    EXPECT_EQ(sim.cluster.Replicas(web), samples.after) << run;
    EXPECT_THAT(sim.judge.wrong(), IsEmpty()) << run;
  }
}

TEST(OnSample, ActivityThatStaysTheSameLastsUntilItsEnd) {
  const SimulatedCluster::Target jobs = {"shop", "job"};
  ExpectToLastUntilItsEnd(
      {.metrics = "",
       .spec = absl::StrReplaceAll(FollowingJobs("1s", 6),
                                   {{R"("interval":"1s")", R"("onSample":true)"}}),
       .before = 2,
       .after = 0,
       .begin = [&](Simulation& sim) { sim.cluster.PutDeployment(jobs, 4); },
       .end = [&](Simulation& sim) { sim.cluster.DeleteDeployment(jobs); }});
}

TEST(OnSample, ARecommendationThatStaysTheSameIsInTheWindowUntilItsEnd) {
  ExpectToLastUntilItsEnd({.metrics = MetricOf('a', "web", 10),
                           .spec = absl::StrCat(Bounds(1, 20), R"(,"cadence":{"onSample":true})",
                                                ScaleDown(R"("stabilizationWindowSeconds":6)")),
                           .before = 8,
                           .after = 1,
                           .begin =
                               [](Simulation& sim) {
                                 sim.Set({"shop", "web"}, 'a', 80'000);
                               },
                           .end =
                               [](Simulation& sim) {
                                 sim.Set({"shop", "web"}, 'a', 10'000);
                               }});
}

// The status of the owner that died tells of no activity, and the minimum, which kept the target
// above zero, is lowered within the cooldown.
TEST_F(WrongWrites, AMinimumThatIsLoweredAfterATakeoverShortensNoCooldown) {
  const SimulatedCluster::Target jobs = {"shop", "job"};
  const auto with_minimum = [](const std::string& minimum) {
    return AutoscalerText{
        .key = Own(),
        .metrics = "",
        .spec = absl::StrReplaceAll(FollowingJobs("1s", 60), {{R"("minReplicas":0)", minimum}}),
        .annotations = ""};
  };
  SimulatedReplica& first = sim.AddReplica();
  Make(with_minimum(R"("minReplicas":1)"), 1);
  sim.Run(absl::Minutes(2));
  first.refuses = [](const http::HttpCall& call) { return absl::EndsWith(call.target, "/status"); };
  sim.cluster.PutDeployment(jobs, 2);
  sim.Run(absl::Seconds(3));
  first.Kill();
  sim.cluster.DeleteDeployment(jobs);
  SimulatedReplica& second = sim.AddReplica();
  while (!second.Owns(Own())) sim.Run(absl::Milliseconds(100));
  sim.Run(absl::Seconds(2));
  sim.cluster.PutAutoscaler(with_minimum(R"("minReplicas":0)").Json());
  sim.Run(absl::Seconds(36));
  EXPECT_EQ(Replicas(Own()), 1) << sim.judge.LastDecisions(Own());
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
  sim.Run(absl::Seconds(60));
  EXPECT_EQ(Replicas(Own()), 0);
}

TEST_F(WrongWrites, ASuccessorsClockShortensNoCooldown) {
  const SimulatedCluster::Target jobs = {"shop", "job"};
  sim.AddReplica();
  sim.cluster.PutDeployment(jobs, 2);
  Make({.key = Own(), .metrics = "", .spec = FollowingJobs("1s", 60), .annotations = ""}, 1);
  sim.Run(absl::Seconds(20));
  sim.cluster.DeleteDeployment(jobs);
  sim.Run(absl::Seconds(10));
  ASSERT_EQ(Replicas(Own()), 1);
  sim.AddReplica().JumpWall(absl::Minutes(2));
  sim.replica(0).Stop();
  sim.Run(absl::Seconds(46));
  EXPECT_EQ(Replicas(Own()), 1);
  sim.Run(absl::Seconds(60));
  EXPECT_EQ(Replicas(Own()), 0);
}

// As a transport does whose connection was gone: the second call meets what the first has written.
TEST_F(WrongWrites, ARemovalThatWasSentTwiceCounts) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f"};
  sim.AddReplica();
  for (const std::string& name : names) {
    sim.Set({"shop", name}, 'a', 80'000);
    Make({.key = Hpa("shop", name),
          .metrics = MetricOf('a', name, 10),
          .spec = Bounds(1, 20) + ScaleDown(kOnePodInTenMinutes),
          .annotations = ""},
         8);
  }
  sim.Run(absl::Seconds(20));
  sim.replica(0).network.repeated = 0.5;
  for (const std::string& name : names) sim.Set({"shop", name}, 'a', 10'000);
  sim.Run(absl::Minutes(2));
  for (const std::string& name : names) EXPECT_EQ(Replicas(Hpa("shop", name)), 7) << name;
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The second addition meets a conflict with itself, so it is not counted. The first is older than a
// period of additions by then: the second has replaced it.
TEST_F(WrongWrites, AnAdditionThatWasSentTwiceReplacesEarlierOnes) {
  sim.AddReplica();
  sim.Set(TargetOf(Hpa()), 'a', 150'000);
  Make({.key = Hpa(),
        .metrics = MetricOf('a', "web", 10),
        .spec = Bounds(1, 20) + ScaleDown(kOnePodInTenMinutes),
        .annotations = ""},
       8);
  sim.Run(absl::Seconds(20));
  ASSERT_EQ(Replicas(Hpa()), 15);
  sim.replica(0).network.repeated = 1;
  sim.Set(TargetOf(Hpa()), 'a', 170'000);
  sim.Run(absl::Seconds(4));
  ASSERT_EQ(Replicas(Hpa()), 17);
  sim.replica(0).network.repeated = 0;
  sim.Set(TargetOf(Hpa()), 'a', 10'000);
  sim.Run(absl::Seconds(30));
  EXPECT_EQ(Replicas(Hpa()), 16) << sim.judge.LastDecisions(Hpa());
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The answer that says 8 is as young as the conflict. On it the same write would be tried again, and
// in a simulation, where that takes no time, for ever.
TEST_F(WrongWrites, AScaleThatWasAskedForIsAskedForAgainAfterAConflict) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(TargetOf(Hpa()), 'a', 80'000);
  Make(
      {.key = Hpa(), .metrics = MetricOf('a', "web", 10), .spec = Bounds(1, 20), .annotations = ""},
      8);
  sim.Run(absl::Seconds(20));
  replica.BreakWatch("deployments", absl::UnavailableError("connection reset"));
  sim.Run(absl::Seconds(65));  // from now on it is asked for
  replica.network.repeated = 1;
  sim.Set(TargetOf(Hpa()), 'a', 150'000);
  sim.Run(absl::Seconds(5));
  EXPECT_EQ(Replicas(Hpa()), 15) << sim.judge.LastDecisions(Hpa());
  EXPECT_EQ(sim.judge.writes(), 1);
}

// A trigger was read while the watch of pods failed, and a slow metric only after it worked again.
TEST_F(WrongWrites, WhatABrokenWatchToldATriggerIsNotScaledDownOn) {
  const SimulatedCluster::Target jobs = JobsOf(TargetOf(Own()));
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(TargetOf(Own()), 'a', 10'000);
  sim.cluster.PutDeployment(jobs, 4);
  Make({.key = Own(),
        .metrics = MetricOf('a', "web", 10),
        .spec = R"(,"minReplicas":0,"maxReplicas":20,"cadence":{"interval":"1s"},)"
                R"("cooldownPeriod":20,"triggers":[{"type":"kubernetes-workload","metadata":)"
                R"({"podSelector":"app=jobs-web","value":"2"}}])",
        .annotations = ""},
       2);
  sim.Run(absl::Seconds(10));
  sim.cluster.PutDeployment(jobs, 0);
  sim.Run(absl::Seconds(5));
  replica.BreakWatch("pods", absl::UnavailableError("connection reset"));
  sim.cluster.PutDeployment(jobs, 4);
  replica.metrics_network = {.slow = 1, .slow_delay = absl::Seconds(4)};
  sim.Run(absl::Seconds(30));
  ASSERT_EQ(Replicas(Own()), 2);
  replica.HealWatch("pods", /*list_anew=*/true);
  sim.Run(absl::Minutes(1));
  EXPECT_EQ(Replicas(Own()), 2) << sim.judge.LastDecisions(Own());
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// What was written down said 6: of a removal from 9 to 8 the count alone tells nothing.
TEST_F(WrongWrites, ARemovalAfterSomebodyElsesAdditionIsNotForgotten) {
  sim.AddReplica();
  sim.Set(TargetOf(Hpa()), 'a', 60'000);
  Make({.key = Hpa(),
        .metrics = MetricOf('a', "web", 10),
        .spec = Bounds(1, 20) + ScaleDown(kOnePodInTenMinutes),
        .annotations = ""},
       6);
  sim.Run(absl::Seconds(40));
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    sim.replica(0).Kill();
  };
  sim.cluster.Scale(TargetOf(Hpa()), 9);
  sim.Run(absl::Seconds(10));
  ASSERT_EQ(Replicas(Hpa()), 8);
  sim.cluster.on_scale_write = judge;
  sim.AddReplica();
  sim.Run(absl::Minutes(2));
  EXPECT_EQ(Replicas(Hpa()), 8);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_F(WrongWrites, ToleranceOfADirectionCounts) {
  sim.AddReplica();
  sim.Set({"shop", "web"}, 'a', 70'000);
  Make({.key = Hpa(),
        .metrics = MetricOf('a', "web", 10),
        .spec = Bounds(1, 20) + ScaleDown(absl::StrCat(R"("tolerance":"0.5",)", kAllAtOnce)),
        .annotations = ""},
       10);
  sim.Run(absl::Seconds(20));
  EXPECT_EQ(Replicas(Hpa()), 10);  // 0.7 of the target is within half of it
  sim.Set({"shop", "web"}, 'a', 40'000);
  sim.Run(absl::Seconds(20));
  EXPECT_EQ(Replicas(Hpa()), 4);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

}  // namespace
}  // namespace flyball::scaler
