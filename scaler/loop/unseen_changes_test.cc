// Courses in which something happens that a replica does not see at once, or never, and that once
// made a wrong count be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "http/client/transport.h"
#include "scaler/testing/simulation.h"

namespace flyball::scaler {
namespace {

using testing::IsEmpty;

constexpr char kOneInTenMinutes[] =
    R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0,"policies":[{"type":"Pods",)"
    R"("value":1,"periodSeconds":600}]}})";

AutoscalerText Following(const AutoscalerKey& key, const std::string& spec) {
  return {.key = key,
          .metrics = MetricOf('a', "web", 10),
          .spec = absl::StrCat(R"(,"minReplicas":1,"maxReplicas":20)", spec),
          .annotations = ""};
}

// By this version only a condition lets a target wake that was put to sleep.
ScalerOptions WithSleep() {
  ScalerOptions options = Simulation::ActOnAll();
  options.dialect = {.minor = 37, .gates = {{"HPAScaleToZero", true}}};
  return options;
}

constexpr char kToZeroAtOnce[] = R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";

// A target of two replicas that its HPA may put to sleep.
void MakeSleepy(Simulation& zero, const std::string& behavior) {
  zero.Set(kWeb, 'a', 20'000);
  zero.cluster.PutDeployment(kWeb, 2);
  AutoscalerText text = Following(kHpa, "");
  text.spec = absl::StrCat(R"(,"minReplicas":0,"maxReplicas":20)", behavior);
  zero.cluster.PutAutoscaler(text.Json());
}

class UnseenChanges : public testing::Test {
 protected:
  void Make(const AutoscalerText& text, int replicas) {
    sim.cluster.PutDeployment(kWeb, replicas);
    sim.cluster.PutAutoscaler(text.Json());
  }
  int Replicas() const { return sim.cluster.Replicas(kWeb); }
  // The load falls, and 8 replicas become 7. From that write on the replica gets no answers.
  void RemoveOneWithoutAnswer(SimulatedReplica& replica) {
    const auto judge = sim.cluster.on_scale_write;
    sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
      judge(write);
      replica.network.lost = 1;
    };
    sim.Set(kWeb, 'a', 10'000);
    while (replica.network.lost == 0) sim.Run(absl::Milliseconds(100));
    ASSERT_EQ(Replicas(), 7);
    sim.cluster.on_scale_write = judge;
  }
  SimulatedReplica& WithEightReplicas() {
    SimulatedReplica& replica = sim.AddReplica();
    sim.Set(kWeb, 'a', 80'000);
    Make(Following(kHpa, kOneInTenMinutes), 8);
    sim.Run(absl::Seconds(40));
    return replica;
  }
  // The next write has an effect and no answer, and somebody sets 8 replicas again at once.
  void UndoWithoutAnswer(SimulatedReplica& replica, std::function<void()> with_it) {
    const auto judge = sim.cluster.on_scale_write;
    sim.cluster.on_scale_write = [=, this, &replica](const SimulatedCluster::ScaleWrite& write) {
      judge(write);
      if (std::exchange(undone_, true)) return;
      replica.network.lost = 1;
      with_it();
      sim.time.Soon([this, &replica] {
        replica.network.lost = 0;
        sim.judge.OnForeignScale(kWeb);
        sim.cluster.Scale(kWeb, 8);
      });
    };
  }

  Simulation sim{1};
  bool undone_ = false;
};

// The first list told of it and broke off; the second does not tell of it any more.
TEST_F(UnseenChanges, WhatEndsBetweenAListInPartAndTheNextIsGone) {
  SimulatedReplica& replica = sim.AddReplica();
  replica.BreakWatch("horizontalpodautoscalers", absl::UnavailableError("connection reset"));
  sim.Set(kWeb, 'a', 20'000);
  Make(Following(kHpa, ""), 2);
  sim.Run(absl::Seconds(5));
  replica.ListInPart("horizontalpodautoscalers", 1);
  sim.Run(absl::Seconds(20));
  sim.cluster.DeleteAutoscaler(kHpa);
  replica.HealWatch("horizontalpodautoscalers", /*list_anew=*/true);
  sim.Set(kWeb, 'a', 40'000);
  sim.Run(absl::Minutes(1));
  EXPECT_EQ(Replicas(), 2);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// Nobody has seen the count that the removal led to.
TEST_F(UnseenChanges, ARemovalWhoseAnswerWasLostCountsAfterSomebodyElsesChange) {
  SimulatedReplica& replica = WithEightReplicas();
  ASSERT_NO_FATAL_FAILURE(RemoveOneWithoutAnswer(replica));
  sim.cluster.Scale(kWeb, 9);
  sim.Run(absl::Seconds(5));
  replica.network.lost = 0;
  sim.Run(absl::Minutes(2));
  EXPECT_EQ(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The watch of the scale breaks with that write, and an addition that is decided on the old count
// gets no answer either.
TEST_F(UnseenChanges, ARemovalWhoseAnswerWasLostCountsAfterAnAdditionWithoutAnswer) {
  SimulatedReplica& replica = WithEightReplicas();
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    replica.network.lost = 1;
    sim.time.Soon([&] { replica.network.lost = 0; });
    replica.BreakWatch("deployments", absl::UnavailableError("connection reset"));
    replica.refuses = [](const http::HttpCall& call) {
      return call.method == "PUT" && absl::EndsWith(call.target, "/scale");
    };
    sim.Set(kWeb, 'a', 100'000);
  };
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(20));
  ASSERT_EQ(Replicas(), 7);
  sim.cluster.on_scale_write = judge;
  replica.refuses = nullptr;
  sim.Set(kWeb, 'a', 10'000);
  replica.HealWatch("deployments", /*list_anew=*/false);
  sim.Run(absl::Minutes(2));
  EXPECT_EQ(Replicas(), 7) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The watch of the scale breaks with that write, and somebody sets the old count again. An addition
// that is decided on this count meets a conflict, and is written when that has been looked into.
TEST_F(UnseenChanges, ARemovalWhoseAnswerWasLostCountsAfterAnAdditionThatFindsItUndone) {
  SimulatedReplica& replica = WithEightReplicas();
  UndoWithoutAnswer(replica, [&] {
    replica.BreakWatch("deployments", absl::UnavailableError("connection reset"));
    sim.Set(kWeb, 'a', 100'000);
  });
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(20));
  ASSERT_EQ(Replicas(), 10);
  sim.Set(kWeb, 'a', 10'000);
  replica.HealWatch("deployments", /*list_anew=*/false);
  sim.Run(absl::Minutes(2));
  EXPECT_EQ(Replicas(), 8) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// Nobody has seen the count that the removal led to, and it is the old one again.
TEST_F(UnseenChanges, ARemovalWhoseAnswerWasLostCountsWhenItWasUndone) {
  SimulatedReplica& replica = WithEightReplicas();
  UndoWithoutAnswer(replica, [] {});
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Minutes(2));
  ASSERT_TRUE(undone_);
  EXPECT_EQ(Replicas(), 8) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The API server has done it and says to try again. By then somebody has set the old count again.
TEST_F(UnseenChanges, ARemovalThatIsTriedAgainCountsWhenItWasUndone) {
  SimulatedReplica& replica = WithEightReplicas();
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    if (std::exchange(undone_, true)) return;
    replica.network.failing_late = 1;
    sim.time.Soon([&] {
      sim.judge.OnForeignScale(kWeb);
      sim.cluster.Scale(kWeb, 8);
    });
  };
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Minutes(2));
  sim.cluster.on_scale_write = judge;
  ASSERT_TRUE(undone_);
  EXPECT_EQ(Replicas(), 8) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The watch of the scale breaks with that write. After a minute the scale is asked for each time,
// and no answer to a call tells of which generation it is.
TEST_F(UnseenChanges, ARemovalWhoseAnswerWasLostCountsWhenOnlyACallTellsThatItWasUndone) {
  SimulatedReplica& replica = WithEightReplicas();
  UndoWithoutAnswer(replica, [&] {
    replica.BreakWatch("deployments", absl::UnavailableError("connection reset"));
  });
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Minutes(3));
  ASSERT_TRUE(undone_);
  EXPECT_EQ(Replicas(), 8) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// Nobody sees the count that the removal led to: the autoscaler follows another target by then.
TEST_F(UnseenChanges, ARemovalWhoseAnswerWasLostCountsForTheNextTargetToo) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 80'000);
  AutoscalerText text = Following(kHpa, kOneInTenMinutes);
  Make(text, 8);
  sim.cluster.PutDeployment(OtherOf(kWeb), 8);
  sim.Run(absl::Seconds(40));
  ASSERT_NO_FATAL_FAILURE(RemoveOneWithoutAnswer(replica));
  text.target = OtherOf(kWeb).second;
  sim.cluster.PutAutoscaler(text.Json());
  sim.Run(absl::Seconds(5));
  replica.network.lost = 0;
  sim.Run(absl::Minutes(1));
  EXPECT_EQ(sim.cluster.Replicas(OtherOf(kWeb)), 8) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The first addition is older than a period of additions by then, so the second has replaced it. No
// answer tells of the second, and the next decision is made for another object of the same name.
TEST_F(UnseenChanges, AnAdditionWhoseAnswerWasLostReplacesEarlierOnesForTheNextObjectToo) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 150'000);
  Make(Following(kHpa, kOneInTenMinutes), 8);
  sim.Run(absl::Seconds(20));
  ASSERT_EQ(Replicas(), 15);
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    replica.network.lost = 1;
    sim.time.Soon([&] {
      replica.network.lost = 0;
      sim.cluster.RecreateAutoscaler(kHpa);
    });
  };
  sim.Set(kWeb, 'a', 170'000);
  sim.Run(absl::Seconds(15));
  ASSERT_EQ(Replicas(), 17);
  sim.cluster.on_scale_write = judge;
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(30));
  EXPECT_EQ(Replicas(), 16) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// Whatever the write waited for.
TEST_F(UnseenChanges, ARemovalCountsFromWhenItWasWritten) {
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  sim.AddReplica();
  sim.replica(0).longest_queue = absl::Seconds(2);
  for (const std::string& name : names) {
    sim.Set({"shop", name}, 'a', 10'000);
    sim.cluster.PutDeployment({"shop", name}, 8);
    sim.cluster.PutAutoscaler(
        AutoscalerText{.key = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = name},
                       .metrics = MetricOf('a', name, 10),
                       .spec = R"(,"minReplicas":1,"maxReplicas":20,"behavior":{"scaleDown":{)"
                               R"("stabilizationWindowSeconds":0,"policies":[{"type":"Pods",)"
                               R"("value":1,"periodSeconds":30}]}})",
                       .annotations = ""}
            .Json());
  }
  sim.Run(absl::Minutes(3));
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// What an earlier owner saved arrives while an addition is written that was decided without it.
TEST_F(UnseenChanges, WhatIsReadDuringAWriteIsNotReplacedByIt) {
  sim.AddReplica();
  sim.Set(kWeb, 'a', 80'000);
  Make(Following(kHpa, kOneInTenMinutes), 8);
  sim.Run(absl::Seconds(40));
  sim.Set(kWeb, 'a', 70'000);
  sim.Run(absl::Seconds(40));
  ASSERT_EQ(Replicas(), 7);
  sim.replica(0).Stop();
  sim.Run(absl::Seconds(5));
  SimulatedReplica& second = sim.AddReplica();
  second.refuses = [](const http::HttpCall& call) {
    return absl::StrContains(call.target, "/configmaps/");
  };
  sim.Run(absl::Seconds(30));
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    second.refuses = nullptr;
    second.network = {.slow = 1, .slow_delay = absl::Seconds(4)};  // the answer to this write
    sim.time.At(sim.time.now() + absl::Milliseconds(10), [&] { second.network = {}; });
  };
  sim.Set(kWeb, 'a', 90'000);
  while (Replicas() == 7) sim.Run(absl::Milliseconds(100));
  sim.cluster.on_scale_write = judge;
  sim.Run(absl::Seconds(10));
  ASSERT_EQ(Replicas(), 9);
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Minutes(1));
  EXPECT_EQ(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// An addition takes the place of the last one in the list that no period needs any more, and that
// is not always the newest. Here it is the one of 8.
TEST_F(UnseenChanges, AdditionsKeepTheirOrderAcrossOwners) {
  sim.AddReplica();
  sim.Set(kWeb, 'a', 10'000);
  Make(Following(kHpa, R"(,"behavior":{"scaleUp":{"policies":[{"type":"Pods","value":10,)"
                       R"("periodSeconds":15}]},"scaleDown":{"stabilizationWindowSeconds":0,)"
                       R"("policies":[{"type":"Pods","value":1,"periodSeconds":600}]}})"),
       1);
  sim.Run(absl::Seconds(30));
  const auto grow = [&](int replicas, absl::Duration then) {
    sim.Set(kWeb, 'a', replicas * 10'000);
    sim.Run(then);
    EXPECT_EQ(Replicas(), replicas);
  };
  grow(2, absl::Seconds(2));
  grow(3, absl::Seconds(8));
  grow(11, absl::Seconds(10));
  grow(13, absl::Seconds(20));
  sim.replica(0).Stop();
  sim.Run(absl::Seconds(2));
  sim.AddReplica();
  sim.Run(absl::Seconds(10));
  grow(15, absl::Seconds(10));
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(30));
  EXPECT_EQ(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The answer to a write tells the pods that there were before it; 130 are within the tolerance of
// 12 pods, and of 14.
TEST_F(UnseenChanges, WhatABrokenWatchOfScalesToldLastMakesNothingSmaller) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 120'000);
  Make(Following(kHpa, R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})"), 12);
  sim.Run(absl::Seconds(20));
  ASSERT_EQ(Replicas(), 12);
  replica.BreakWatch("deployments", absl::UnavailableError("connection reset"));
  sim.Set(kWeb, 'a', 135'000);
  sim.Run(absl::Seconds(5));
  ASSERT_EQ(Replicas(), 14);
  sim.Set(kWeb, 'a', 130'000);
  sim.Run(absl::Seconds(40));
  EXPECT_EQ(Replicas(), 14) << sim.judge.LastDecisions(kHpa);
  sim.Set(kWeb, 'a', 100'000);
  sim.Run(absl::Seconds(40));
  EXPECT_EQ(Replicas(), 10);  // by now it is asked for
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The last of the changes that the watch has missed is a pause.
TEST_F(UnseenChanges, AWatchThatIsOpenAgainMayStillHaveToTellOfAPause) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 20'000);
  AutoscalerText text = Following(kHpa, "");
  Make(text, 2);
  sim.Run(absl::Seconds(20));
  replica.BreakWatch("horizontalpodautoscalers", absl::UnavailableError("connection reset"));
  sim.Run(absl::Seconds(5));
  for (const char* note : {"a", "b", "c", "d", "e"}) {
    text.annotations = absl::StrCat(R"("note":")", note, "\"");
    sim.cluster.PutAutoscaler(text.Json());
  }
  text.annotations = R"("flyball.dev/paused-until":"2036-01-01T00:00:00Z")";
  sim.cluster.PutAutoscaler(text.Json());
  sim.Set(kWeb, 'a', 40'000);
  replica.HealWatch("horizontalpodautoscalers", /*list_anew=*/false);
  sim.Run(absl::Seconds(20));
  EXPECT_EQ(Replicas(), 2) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The next stream waits in the queue of a busy API server.
TEST_F(UnseenChanges, BetweenTwoStreamsNobodyTellsOfAnEnd) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 20'000);
  Make(Following(kHpa, ""), 2);
  sim.Run(absl::Seconds(20));
  replica.CloseWatch("horizontalpodautoscalers", absl::Seconds(15));
  sim.Run(absl::Seconds(1));
  sim.cluster.DeleteAutoscaler(kHpa);
  sim.Run(absl::Seconds(1));
  sim.Set(kWeb, 'a', 40'000);
  sim.Run(absl::Seconds(30));
  EXPECT_EQ(Replicas(), 2) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_F(UnseenChanges, WhatWasThrottledIsNotWrittenAfterAPause) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 20'000);
  AutoscalerText text = Following(kHpa, "");
  Make(text, 2);
  sim.Run(absl::Seconds(20));
  bool written = false;
  replica.refuses = [&](const http::HttpCall& call) {
    if (call.method != "PUT" || std::exchange(written, true)) return false;
    sim.time.At(sim.time.now() + absl::Milliseconds(500), [&] {
      replica.network.throttled = 0;
      text.annotations = R"("flyball.dev/mode":"shadow")";
      sim.cluster.PutAutoscaler(text.Json());
    });
    return false;
  };
  replica.network.throttled = 1;
  sim.Set(kWeb, 'a', 40'000);
  sim.Run(absl::Seconds(20));
  ASSERT_TRUE(written);
  EXPECT_EQ(Replicas(), 2) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The stock controller's client waits and sends again, too.
TEST_F(UnseenChanges, WhatWasThrottledIsWrittenAsSoonAsItMayBe) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 20'000);
  Make(Following(kHpa, ""), 2);
  sim.Run(absl::Seconds(20));
  replica.network.throttled = 1;
  sim.Set(kWeb, 'a', 40'000);
  sim.Run(absl::Milliseconds(2500));
  replica.network.throttled = 0;
  sim.Run(absl::Milliseconds(1100));
  EXPECT_EQ(Replicas(), 4) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// What the watches told is of a later version than all that there is now.
TEST_F(UnseenChanges, AClusterThatWasSetBackIsScaledFromWhereItIs) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 40'000);
  Make(Following(kHpa, ""), 4);
  sim.Run(absl::Seconds(20));
  replica.Tell("deployments",
               R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"shop",)"
               R"("name":"web","resourceVersion":"5000"},"spec":{"replicas":10,"selector":)"
               R"({"matchLabels":{"app":"web"}}},"status":{"replicas":10}})");
  int written = 0;
  replica.refuses = [&](const http::HttpCall& call) {
    written += call.method == "PUT" && absl::EndsWith(call.target, "/scale") ? 1 : 0;
    return false;
  };
  replica.network = {.slow = 1, .slow_delay = absl::Milliseconds(100)};
  sim.Set(kWeb, 'a', 120'000);
  sim.Run(absl::Seconds(10));
  EXPECT_LE(written, 3);
  EXPECT_GT(Replicas(), 4) << sim.judge.LastDecisions(kHpa);
}

// By this version it is decided at once.
ScalerOptions WithNewsAtOnce() {
  ScalerOptions options = Simulation::ActOnAll();
  options.dialect.minor = 37;
  options.sync_period = absl::Minutes(10);
  return options;
}

TEST_F(UnseenChanges, AnAutoscalerThatIsToldOfBeforeItsTargetFindsIt) {
  Simulation at_once(1, WithNewsAtOnce());
  SimulatedReplica& replica = at_once.AddReplica();
  at_once.Run(absl::Seconds(20));
  at_once.cluster.PutDeployment({"shop", "other"}, 1);
  AutoscalerText other = Following(kHpa, "");
  other.key.name = "other";
  at_once.cluster.PutAutoscaler(other.Json());
  at_once.Set(kWeb, 'a', 40'000);
  at_once.Run(absl::Seconds(20));
  replica.CloseWatch("deployments", absl::Milliseconds(500));
  at_once.cluster.PutDeployment(kWeb, 2);
  at_once.cluster.PutAutoscaler(Following(kHpa, "").Json());
  at_once.Run(absl::Seconds(1));
  EXPECT_EQ(at_once.cluster.Replicas(kWeb), 4) << at_once.judge.LastDecisions(kHpa);
  EXPECT_THAT(at_once.judge.LastDecisions(kHpa), testing::Not(testing::HasSubstr("not found")));
}

TEST_F(UnseenChanges, ATargetThatComesAfterItsAutoscalerIsFoundWithinAPeriod) {
  sim.AddReplica();
  sim.Set(kWeb, 'a', 40'000);
  sim.Run(absl::Seconds(20));
  sim.cluster.PutAutoscaler(Following(kOwn, R"(,"cadence":{"interval":"1h"})").Json());
  sim.Run(absl::Seconds(9));
  sim.cluster.PutDeployment(kWeb, 2);
  sim.Run(absl::Seconds(3));
  EXPECT_EQ(Replicas(), 4) << sim.judge.LastDecisions(kOwn);
}

// Nothing else happens that would make it due within the hour.
TEST_F(UnseenChanges, AScaleThatCouldNotBeWrittenIsWrittenWithinAPeriod) {
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 40'000);
  sim.cluster.PutDeployment(kWeb, 2);
  sim.Run(absl::Seconds(20));
  replica.refuses = [](const http::HttpCall& call) {
    return call.method == "PUT" && absl::EndsWith(call.target, "/scale");
  };
  sim.cluster.PutAutoscaler(Following(kOwn, R"(,"cadence":{"interval":"1h"})").Json());
  sim.Run(absl::Seconds(9));
  ASSERT_EQ(Replicas(), 2);
  replica.refuses = nullptr;
  sim.Run(absl::Seconds(3));
  EXPECT_EQ(Replicas(), 4) << sim.judge.LastDecisions(kOwn);
}

// On an old scale no smaller count is published than before.
TEST_F(UnseenChanges, WhatIsAdvisedOnAnOldScaleIsDecidedAgainWithinAPeriod) {
  const std::string spec = R"(,"mode":"Advise","cadence":{"interval":"1h"})";
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 60'000);
  Make(Following(kOwn, spec), 4);
  sim.Run(absl::Seconds(20));
  const auto decisions = [&] {
    const std::string all = sim.judge.LastDecisions(kOwn);
    return std::count(all.begin(), all.end(), '\n');
  };
  replica.BreakWatch("deployments", absl::UnavailableError("connection reset"));
  sim.Set(kWeb, 'a', 40'000);
  AutoscalerText text = Following(kOwn, spec);
  text.spec = absl::StrCat(R"(,"minReplicas":1,"maxReplicas":19)", spec);
  sim.cluster.PutAutoscaler(text.Json());
  sim.Run(absl::Seconds(1));
  const auto on_old_scale = decisions();
  replica.HealWatch("deployments", /*list_anew=*/true);
  sim.Run(absl::Seconds(3));
  EXPECT_EQ(decisions(), on_old_scale + 1) << sim.judge.LastDecisions(kOwn);
  sim.Run(absl::Seconds(10));
  EXPECT_EQ(decisions(), on_old_scale + 1) << sim.judge.LastDecisions(kOwn);
}

// The next owner hears of the edit before it has taken over.
TEST_F(UnseenChanges, WhatIsEditedBetweenTwoOwnersDoesNotWaitForAnHour) {
  const std::string hourly = R"(,"cadence":{"interval":"1h"})";
  sim.AddReplica();
  sim.Set(kWeb, 'a', 20'000);
  Make(Following(kOwn, hourly), 2);
  sim.Run(absl::Seconds(20));
  SimulatedReplica& second = sim.AddReplica();
  sim.Run(absl::Seconds(20));
  sim.replica(0).Kill();
  sim.Run(absl::Seconds(2));
  AutoscalerText text = Following(kOwn, hourly);
  text.spec = absl::StrCat(R"(,"minReplicas":5,"maxReplicas":20)", hourly);
  sim.cluster.PutAutoscaler(text.Json());
  sim.Run(absl::Seconds(2));
  ASSERT_FALSE(second.Owns(kOwn));
  sim.Run(absl::Seconds(30));
  ASSERT_TRUE(second.Owns(kOwn));
  EXPECT_EQ(Replicas(), 5) << sim.judge.LastDecisions(kOwn);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The next process owns everything before it has heard of anything.
TEST_F(UnseenChanges, WhatIsEditedWhileNothingRunsDoesNotWaitForAnHour) {
  const std::string hourly = R"(,"cadence":{"interval":"1h"})";
  sim.AddReplica();
  sim.Set(kWeb, 'a', 20'000);
  Make(Following(kOwn, hourly), 2);
  sim.Run(absl::Seconds(20));
  sim.replica(0).Stop();
  sim.Run(absl::Seconds(5));
  AutoscalerText text = Following(kOwn, hourly);
  text.spec = absl::StrCat(R"(,"minReplicas":5,"maxReplicas":20)", hourly);
  sim.cluster.PutAutoscaler(text.Json());
  SimulatedReplica& second = sim.AddReplica();
  second.BreakWatch("autoscalers", absl::UnavailableError("connection refused"));
  sim.Run(absl::Seconds(30));
  ASSERT_TRUE(second.Owns(kOwn));
  second.HealWatch("autoscalers", /*list_anew=*/true);
  sim.Run(absl::Seconds(5));
  EXPECT_EQ(Replicas(), 5) << sim.judge.LastDecisions(kOwn);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_F(UnseenChanges, AnHpaThatIsMadeAnewIsNews) {
  Simulation at_once(1, WithNewsAtOnce());
  at_once.AddReplica();
  at_once.Run(absl::Seconds(20));
  at_once.Set(kWeb, 'a', 20'000);
  at_once.cluster.PutDeployment(kWeb, 2);
  at_once.cluster.PutAutoscaler(Following(kHpa, "").Json());
  at_once.Run(absl::Seconds(1));
  at_once.Set(kWeb, 'a', 40'000);
  at_once.Run(absl::Seconds(1));
  ASSERT_EQ(at_once.cluster.Replicas(kWeb), 2) << at_once.judge.LastDecisions(kHpa);
  at_once.cluster.RecreateAutoscaler(kHpa);
  at_once.Run(absl::Seconds(1));
  EXPECT_EQ(at_once.cluster.Replicas(kWeb), 4) << at_once.judge.LastDecisions(kHpa);
}

// Of two replicas the first dies as soon as its next write is done. The second, which watches the
// scales for another autoscaler, does not see that write when it takes over.
class UnseenByTheSuccessor : public UnseenChanges {
 protected:
  void Begin(const AutoscalerText& text, int replicas) {
    sim.AddReplica();
    sim.cluster.PutDeployment({"shop", "other"}, 1);
    sim.cluster.PutAutoscaler(
        AutoscalerText{.key = {.kind = AutoscalerKind::kOwn, .ns = "shop", .name = "other"},
                       .metrics = MetricOf('a', "web", 10),
                       .spec = R"(,"minReplicas":1,"maxReplicas":20,"mode":"Advise")",
                       .annotations = ""}
            .Json());
    Make(text, replicas);
    sim.Run(absl::Seconds(20));
    sim.AddReplica();
    sim.Run(absl::Seconds(40));
    ASSERT_TRUE(sim.replica(0).Owns(text.key));
    sim.replica(1).BreakWatch("deployments", absl::UnavailableError("connection reset"));
    const auto judge = sim.cluster.on_scale_write;
    sim.cluster.on_scale_write = [this, judge](const SimulatedCluster::ScaleWrite& write) {
      judge(write);
      sim.replica(0).Kill();
      sim.cluster.on_scale_write = judge;
    };
  }
  void TakeOver(const AutoscalerKey& key) {
    ASSERT_FALSE(sim.replica(0).alive());
    while (!sim.replica(1).Owns(key)) sim.Run(absl::Milliseconds(100));
    sim.Run(absl::Seconds(6));
    sim.replica(1).HealWatch("deployments", /*list_anew=*/false);
    sim.Run(absl::Seconds(20));
  }
};

TEST_F(UnseenByTheSuccessor, ARemovalCounts) {
  sim.Set(kWeb, 'a', 80'000);
  Begin(Following(kHpa, kOneInTenMinutes), 8);
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(4));
  ASSERT_EQ(Replicas(), 7);
  TakeOver(kHpa);
  EXPECT_EQ(Replicas(), 7) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

TEST_F(UnseenByTheSuccessor, WhatWasWokenKeepsItsCooldown) {
  const SimulatedCluster::Target jobs = {"shop", "job"};
  Begin({.key = kOwn, .metrics = "", .spec = FollowingJobs("1s", 90), .annotations = ""}, 0);
  sim.cluster.PutDeployment(jobs, 2);
  sim.Run(absl::Seconds(2));
  ASSERT_EQ(Replicas(), 1);
  sim.cluster.DeleteDeployment(jobs);
  TakeOver(kOwn);
  EXPECT_EQ(Replicas(), 1) << sim.judge.LastDecisions(kOwn);
  sim.Run(absl::Minutes(2));
  EXPECT_EQ(Replicas(), 0);
}

// Somebody has deleted the Lease that says how many shards there were.
TEST_F(UnseenChanges, WhatWasSavedIsFoundWithoutTheNumberOfShards) {
  sim.AddReplica(/*shards=*/1);
  sim.Set(kWeb, 'a', 10'000);
  Make(Following(kHpa, kOneInTenMinutes), 8);
  sim.Run(absl::Seconds(60));
  ASSERT_EQ(Replicas(), 7);
  sim.replica(0).Stop();
  sim.Run(absl::Seconds(2));
  sim.leases.erase("flyball-scaler-shards");
  SimulatedReplica& second = sim.AddReplica(/*shards=*/4);
  sim.Run(absl::Minutes(1));
  EXPECT_TRUE(second.Owns(kHpa));
  EXPECT_EQ(Replicas(), 7) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// That a target may wake stands in the status alone. Here a status that need not wait is written
// within the second.
TEST_F(UnseenChanges, WhoPutsATargetToSleepSaysSoAtOnce) {
  ScalerOptions options = WithSleep();
  options.sync_period = absl::Seconds(1);
  Simulation zero(1, options);
  zero.AddReplica();
  MakeSleepy(zero, kToZeroAtOnce);
  zero.Run(absl::Seconds(20));
  const auto judge = zero.cluster.on_scale_write;
  zero.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    zero.time.At(zero.time.now() + absl::Milliseconds(1100), [&] { zero.replica(0).Kill(); });
  };
  zero.Set(kWeb, 'a', 0);
  zero.Run(absl::Seconds(10));
  ASSERT_EQ(zero.cluster.Replicas(kWeb), 0);
  zero.cluster.on_scale_write = judge;
  zero.AddReplica();
  zero.Set(kWeb, 'a', 20'000);
  zero.Run(absl::Minutes(2));
  EXPECT_EQ(zero.cluster.Replicas(kWeb), 2) << zero.judge.LastDecisions(kHpa);
}

// How it goes with the write that puts a target to sleep.
enum class Trouble { kNone, kAnswerLost, kSentTwice, kKilled, kStatusRefused, kStopped };
class PutToSleep : public testing::TestWithParam<Trouble> {};

// Whoever decides it then, this replica or the next one.
TEST_P(PutToSleep, WakesAgain) {
  for (const bool next : {false, true}) {
    Simulation zero(1, WithSleep());
    SimulatedReplica& first = zero.AddReplica();
    MakeSleepy(zero, kToZeroAtOnce);
    zero.Run(absl::Seconds(20));
    const auto judge = zero.cluster.on_scale_write;
    zero.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
      judge(write);
      if (write.after > 0) return;
      if (GetParam() == Trouble::kKilled) first.Kill();
      // What it remembers is saved, and the status is not, whether it is killed or ends in order.
      if (GetParam() >= Trouble::kStatusRefused) {
        first.refuses = [](const http::HttpCall& call) {
          return absl::EndsWith(call.target, "/status");
        };
      }
      if (GetParam() != Trouble::kAnswerLost) return;
      first.network.lost = 1;
      zero.time.Soon([&] { first.network.lost = 0; });
    };
    if (GetParam() == Trouble::kSentTwice) first.network.repeated = 1;
    zero.Set(kWeb, 'a', 0);
    zero.Run(absl::Seconds(20));
    ASSERT_EQ(zero.cluster.Replicas(kWeb), 0);
    zero.cluster.on_scale_write = judge;
    first.network = {};
    if (next && GetParam() == Trouble::kStopped) {
      first.Stop();
      zero.Run(absl::Seconds(2));
    } else if (next) {
      first.Kill();
    }
    first.refuses = nullptr;
    if (!first.alive()) zero.AddReplica();
    zero.Set(kWeb, 'a', 35'000);
    zero.Run(absl::Minutes(1));
    EXPECT_EQ(zero.cluster.Replicas(kWeb), 4) << zero.judge.LastDecisions(kHpa);
  }
}
INSTANTIATE_TEST_SUITE_P(Troubles, PutToSleep,
                         testing::Values(Trouble::kNone, Trouble::kAnswerLost, Trouble::kSentTwice,
                                         Trouble::kKilled, Trouble::kStatusRefused,
                                         Trouble::kStopped));

// Somebody else has scaled the target to zero, or it was there before its autoscaler. Owners end in
// order or die.
enum class Zero { kFromTheBeginning, kUnderLoad, kWhileIdle };
class SwitchedOff : public testing::TestWithParam<std::tuple<Zero, bool>> {};
TEST_P(SwitchedOff, StaysSoUnderEachNextOwner) {
  const auto& [when, in_order] = GetParam();
  Simulation zero(1, WithSleep());
  zero.AddReplica();
  MakeSleepy(zero, "");
  if (when == Zero::kFromTheBeginning) zero.cluster.Scale(kWeb, 0);
  zero.Run(absl::Seconds(20));
  if (when == Zero::kWhileIdle) {
    zero.Set(kWeb, 'a', 0);
    zero.Run(absl::Seconds(10));
  }
  ASSERT_EQ(zero.cluster.Replicas(kWeb), when == Zero::kFromTheBeginning ? 0 : 2);
  zero.judge.OnForeignScale(kWeb);
  zero.cluster.Scale(kWeb, 0);
  zero.Run(absl::Seconds(20));
  for (size_t owner = 0; owner < 3; ++owner) {
    if (in_order) zero.replica(owner).Stop();
    zero.Run(absl::Seconds(2));
    zero.replica(owner).Kill();
    zero.AddReplica();
    zero.Set(kWeb, 'a', 35'000);
    zero.Run(absl::Seconds(40));
    EXPECT_EQ(zero.cluster.Replicas(kWeb), 0) << owner << "\n" << zero.judge.LastDecisions(kHpa);
  }
}
INSTANTIATE_TEST_SUITE_P(When, SwitchedOff,
                         testing::Combine(testing::Values(Zero::kFromTheBeginning, Zero::kUnderLoad,
                                                          Zero::kWhileIdle),
                                          testing::Bool()));

// A person takes the condition away while nobody decides.
TEST_F(UnseenChanges, WhatAPersonLetsSleepOnSleepsUnderTheNextOwnerToo) {
  Simulation zero(1, WithSleep());
  zero.AddReplica();
  MakeSleepy(zero, kToZeroAtOnce);
  zero.Run(absl::Seconds(20));
  zero.Set(kWeb, 'a', 0);
  zero.Run(absl::Seconds(20));
  ASSERT_EQ(zero.cluster.Replicas(kWeb), 0);
  zero.replica(0).Kill();
  const std::string now = absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", kSimulationStart + zero.time.now(),
                                           absl::UTCTimeZone());
  http::HttpCall edit;
  edit.method = "PATCH";
  edit.target = absl::StrCat(PathOf(kHpa), "/status");
  edit.body =
      absl::StrCat(R"({"status":{"conditions":[{"type":"ScaledToZero","status":"False",)",
                   R"("reason":"Off","message":"","lastTransitionTime":")", now, R"("}]}})");
  ASSERT_EQ(zero.cluster.Serve(edit, /*writer=*/0).status, 200);
  zero.AddReplica();
  zero.Set(kWeb, 'a', 20'000);
  zero.Run(absl::Minutes(1));
  EXPECT_EQ(zero.cluster.Replicas(kWeb), 0) << zero.judge.LastDecisions(kHpa);
}

// What was throttled to the end has put nothing to sleep.
TEST_F(UnseenChanges, WhatAPersonPutToSleepAfterAThrottledWriteStaysAsleep) {
  Simulation zero(1, WithSleep());
  SimulatedReplica& replica = zero.AddReplica();
  MakeSleepy(zero, kToZeroAtOnce);
  zero.Run(absl::Seconds(20));
  bool written = false;
  replica.refuses = [&](const http::HttpCall& call) {
    if (call.method != "PUT" || !absl::EndsWith(call.target, "/scale")) return false;
    replica.network.throttled = 1;
    written = true;
    return false;
  };
  zero.Set(kWeb, 'a', 0);
  while (!written) zero.Run(absl::Milliseconds(100));
  zero.Run(absl::Milliseconds(3200));  // until it has given up, and before it is decided again
  ASSERT_EQ(zero.cluster.Replicas(kWeb), 2);
  replica.refuses = nullptr;
  zero.judge.OnForeignScale(kWeb);
  zero.cluster.Scale(kWeb, 0);
  replica.network.throttled = 0;
  zero.Set(kWeb, 'a', 20'000);
  zero.Run(absl::Minutes(1));
  EXPECT_EQ(zero.cluster.Replicas(kWeb), 0) << zero.judge.LastDecisions(kHpa);
}

// The target was never about to be put to sleep when its owner died, and a person scales it to zero.
TEST_F(UnseenChanges, WhatAPersonPutToSleepSleepsUnderTheNextOwnerToo) {
  Simulation zero(1, WithSleep());
  SimulatedReplica& first = zero.AddReplica();
  MakeSleepy(zero, "");
  zero.Run(absl::Seconds(40));
  first.Kill();
  zero.judge.OnForeignScale(kWeb);
  zero.cluster.Scale(kWeb, 0);
  zero.AddReplica();
  zero.Run(absl::Minutes(2));
  EXPECT_EQ(zero.cluster.Replicas(kWeb), 0) << zero.judge.LastDecisions(kHpa);
}

// The other replica sees the last activity, all between two slots of this one.
TEST_F(UnseenChanges, WhoWinsAShardBackTakesOverTheCooldownToo) {
  const SimulatedCluster::Target jobs = {"shop", "job"};
  SimulatedReplica& first = sim.AddReplica();
  sim.cluster.PutDeployment(jobs, 2);
  Make({.key = kOwn, .metrics = "", .spec = FollowingJobs("60s", 90), .annotations = ""}, 1);
  sim.Run(absl::Seconds(110));
  SimulatedReplica& second = sim.AddReplica();
  first.network.refused = 1;
  const std::string decided = sim.judge.LastDecisions(kOwn);
  while (sim.judge.LastDecisions(kOwn) == decided) sim.Run(absl::Seconds(1));
  ASSERT_TRUE(second.Owns(kOwn));
  const absl::Duration active = sim.time.now();
  sim.cluster.DeleteDeployment(jobs);
  first.network.refused = 0;
  second.Stop();
  sim.Run(absl::Seconds(5));
  ASSERT_TRUE(first.Owns(kOwn));
  while (sim.time.now() < active + absl::Seconds(88)) sim.Run(absl::Seconds(1));
  EXPECT_EQ(Replicas(), 1) << sim.judge.LastDecisions(kOwn);
  sim.Run(absl::Minutes(3));
  EXPECT_EQ(Replicas(), 0);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

}  // namespace
}  // namespace flyball::scaler
