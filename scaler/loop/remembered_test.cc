// What replicas remember, hand on and find again, in sequences that once made a wrong count be
// written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "http/client/transport.h"
#include "scaler/math/history.h"
#include "scaler/stores/state_store_codec.h"
#include "scaler/testing/simulation.h"

namespace flyball::scaler {
namespace {

using testing::IsEmpty;

AutoscalerText Following(const std::string& spec, int max = 20) {
  return {.key = kHpa,
          .metrics = MetricOf('a', "web", 10),
          .spec = absl::StrCat(R"(,"minReplicas":1,"maxReplicas":)", max, spec),
          .annotations = ""};
}

// Additions of up to 100 in `up` seconds, one removal in ten minutes.
AutoscalerText AnyInUp(int up) {
  return Following(absl::StrCat(
      R"(,"behavior":{"scaleUp":{"policies":[{"type":"Pods","value":100,"periodSeconds":)", up,
      R"(}]},"scaleDown":{"stabilizationWindowSeconds":0,)",
      R"("policies":[{"type":"Pods","value":1,"periodSeconds":600}]}})"));
}

bool IsOfMemory(const http::HttpCall& call) {
  return absl::StrContains(call.target, "/configmaps");
}

class Remembered : public testing::Test {
 protected:
  void Make(Simulation& on, const AutoscalerText& text, int replicas) {
    on.cluster.PutDeployment(kWeb, replicas);
    on.cluster.PutAutoscaler(text.Json());
  }
  void Make(const AutoscalerText& text, int replicas) { Make(sim, text, replicas); }
  // One replica, and load for one pod, on which it has settled.
  SimulatedReplica& BeginWithOne(const AutoscalerText& text) {
    SimulatedReplica& replica = sim.AddReplica();
    sim.Set(kWeb, 'a', 10'000);
    Make(text, 1);
    sim.Run(absl::Seconds(20));
    return replica;
  }
  int Replicas() const { return sim.cluster.Replicas(kWeb); }
  void Grow(int replicas, absl::Duration then) {
    sim.Set(kWeb, 'a', replicas * 10'000);
    sim.Run(then);
    EXPECT_EQ(Replicas(), replicas);
  }
  // The writer dies as soon as its next write is done.
  void KillAtNextWrite(size_t replica) {
    const auto judge = sim.cluster.on_scale_write;
    sim.cluster.on_scale_write = [this, judge, replica](const SimulatedCluster::ScaleWrite& write) {
      judge(write);
      sim.replica(replica).Kill();
      sim.cluster.on_scale_write = judge;
    };
  }

  Simulation sim{1};
};

// The first owner dies; the second one takes the shard, and goes in order before it has decided
// anything, as in a roll-out. What it hands over is what the first one happened to have written
// down, but it says that nothing was decided since.
TEST_F(Remembered, WhoHandsOverWhatItNeverDecidedDoesNotCallItComplete) {
  ScalerOptions options = Simulation::ActOnAll();
  options.sync_period = absl::Seconds(15);
  Simulation slow(1, options);
  SimulatedReplica& first = slow.AddReplica();
  slow.Set(kWeb, 'a', 100'000);
  Make(slow, Following(""), 10);
  slow.Run(absl::Seconds(60));
  slow.Set(kWeb, 'a', 40'000);
  slow.Run(absl::Seconds(225));
  ASSERT_EQ(slow.cluster.Replicas(kWeb), 10);  // within the window of 5 minutes
  first.refuses = IsOfMemory;                  // so that the moment does not matter
  slow.Set(kWeb, 'a', 100'000);
  slow.Run(absl::Seconds(16));  // it recommends 10 once more, and dies
  const absl::Duration recommended = slow.time.now() - absl::Seconds(16);
  first.Kill();
  slow.Set(kWeb, 'a', 40'000);
  SimulatedReplica& second = slow.AddReplica();
  const std::string decided = slow.judge.LastDecisions(kHpa);
  while (!second.Owns(kHpa)) slow.Run(absl::Milliseconds(100));
  second.Stop();
  ASSERT_EQ(slow.judge.LastDecisions(kHpa), decided);
  slow.AddReplica();
  slow.Run(recommended + absl::Seconds(290) - slow.time.now());
  EXPECT_EQ(slow.cluster.Replicas(kWeb), 10) << slow.judge.LastDecisions(kHpa);
  EXPECT_THAT(slow.judge.wrong(), IsEmpty());
}

// The last addition of an owner that died has replaced an earlier one, under a shorter period than
// the rules have when another owner reads what was written down.
TEST_F(Remembered, AnAdditionThatWasReplacedBeforeAnEditAllowsNoRemoval) {
  BeginWithOne(AnyInUp(15));
  Grow(11, absl::Seconds(40));
  KillAtNextWrite(0);
  Grow(13, absl::Seconds(5));
  ASSERT_FALSE(sim.replica(0).alive());
  sim.cluster.PutAutoscaler(AnyInUp(600).Json());
  sim.Set(kWeb, 'a', 10'000);
  sim.AddReplica();
  sim.Run(absl::Minutes(1));
  EXPECT_GE(Replicas(), 10) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// 2 were added three times. The third addition has replaced the second one, and the first one,
// which is marked for the next, counts again once the period is longer: of 6 that may be added in
// it 4 have been, and one that was removed again makes room for one.
TEST_F(Remembered, ARemovalForgetsNoAddition) {
  const auto adding = [](int most, int period) {
    return Following(absl::StrCat(R"(,"behavior":{"scaleUp":{"policies":[{"type":"Pods","value":)",
                                  most, R"(,"periodSeconds":)", period,
                                  R"(}]},"scaleDown":{"stabilizationWindowSeconds":0}})"));
  };
  BeginWithOne(adding(20, 15));
  Grow(3, absl::Seconds(8));
  Grow(5, absl::Seconds(37));
  Grow(7, absl::Seconds(5));
  sim.cluster.PutAutoscaler(adding(6, 600).Json());
  sim.Run(absl::Seconds(10));
  Grow(6, absl::Seconds(15));
  sim.Set(kWeb, 'a', 200'000);
  while (Replicas() == 6) sim.Run(absl::Milliseconds(10));
  EXPECT_EQ(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// [8 added, 1 added] are both too old at the third addition, which takes the place of the second.
// The first one stays marked for the next, whatever the period is by then.
class Outdated : public Remembered, public testing::WithParamInterface<std::string> {};
TEST_P(Outdated, TheNextAdditionTakesThePlaceOfAMarkedOne) {
  BeginWithOne(AnyInUp(15));
  Grow(9, absl::Seconds(4));
  Grow(10, absl::Seconds(40));
  Grow(12, absl::Seconds(20));
  sim.cluster.PutAutoscaler(AnyInUp(600).Json());
  sim.Run(absl::Seconds(20));
  if (GetParam() == "HandOver") {
    sim.replica(0).Stop();
    sim.Run(absl::Seconds(2));
    sim.AddReplica();
    sim.Run(absl::Seconds(20));
  }
  if (GetParam() == "SentTwice") sim.replica(0).network.repeated = 1;
  Grow(14, absl::Seconds(6));
  sim.replica(0).network.repeated = 0;
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(30));
  EXPECT_GE(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(How, Outdated, testing::Values("OneOwner", "HandOver", "SentTwice"),
                         [](const auto& info) { return info.param; });

// It cannot write down its removal. Its later additions of 2 and 1, of which the second replaces
// the first, bring the count back to what was written down.
class OwnRemoval : public Remembered, public testing::WithParamInterface<bool> {};
TEST_P(OwnRemoval, IsNotForgottenByWhoWinsItsShardBack) {
  const bool loses = GetParam();
  SimulatedReplica& replica = sim.AddReplica();
  sim.Set(kWeb, 'a', 100'000);
  Make(Following(R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0,"policies":)"
                 R"([{"type":"Pods","value":3,"periodSeconds":600}]}})"),
       10);
  sim.Run(absl::Seconds(40));
  replica.refuses = IsOfMemory;
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(4));
  ASSERT_EQ(Replicas(), 7);
  Grow(9, absl::Seconds(24));
  Grow(10, absl::Seconds(4));
  if (loses) {
    replica.network.refused = 1;
    sim.Run(absl::Seconds(20));
    EXPECT_FALSE(replica.Owns(kHpa));
    replica.network.refused = 0;
  }
  replica.refuses = nullptr;
  sim.Run(absl::Seconds(20));
  ASSERT_TRUE(replica.Owns(kHpa));
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(30));
  EXPECT_GE(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(Loses, OwnRemoval, testing::Bool());

// What an earlier owner recommended is read late, when nothing else changes any more.
class LateMemory : public Remembered, public testing::WithParamInterface<bool> {};
TEST_P(LateMemory, CountsWhenItIsRead) {
  const bool late = GetParam();
  sim.AddReplica();
  sim.Set(kWeb, 'a', 150'000);
  Make(Following(""), 15);
  sim.Run(absl::Seconds(60));
  sim.replica(0).Stop();
  sim.Run(absl::Seconds(2));
  sim.judge.OnForeignScale(kWeb);
  sim.cluster.Scale(kWeb, 10);
  sim.Set(kWeb, 'a', 100'000);
  SimulatedReplica& second = sim.AddReplica();
  if (late) second.refuses = IsOfMemory;
  sim.Run(absl::Seconds(40));
  second.refuses = nullptr;
  sim.Run(absl::Seconds(60));
  EXPECT_EQ(Replicas(), 15) << sim.judge.LastDecisions(kHpa);
}
INSTANTIATE_TEST_SUITE_P(Late, LateMemory, testing::Bool());

// The last owner has recommended 10 until it ended, though it wrote nothing down in the pause.
TEST_F(Remembered, WhoTakesOverInAPauseHoldsWhatWasRecommendedInIt) {
  SimulatedReplica& first = sim.AddReplica();
  sim.Set(kWeb, 'a', 100'000);
  AutoscalerText text = Following(R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":30}})");
  Make(text, 10);
  sim.Run(absl::Seconds(20));
  text.annotations = R"("flyball.dev/mode":"shadow")";
  sim.cluster.PutAutoscaler(text.Json());
  sim.Run(absl::Minutes(1));
  first.Stop();
  sim.Set(kWeb, 'a', 30'000);
  SimulatedReplica& second = sim.AddReplica();
  while (!second.Owns(kHpa)) sim.Run(absl::Milliseconds(100));
  text.annotations = "";
  sim.cluster.PutAutoscaler(text.Json());
  sim.Run(absl::Seconds(10));
  EXPECT_EQ(Replicas(), 10) << sim.judge.LastDecisions(kHpa);
  sim.Run(absl::Seconds(40));
  EXPECT_EQ(Replicas(), 3) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// An addition whose answer was lost is noted under the rules of the next decision.
TEST_F(Remembered, AnUnconfirmedAdditionReplacesByTheRulesItWasMadeWith) {
  SimulatedReplica& replica = BeginWithOne(AnyInUp(15));
  Grow(11, absl::Seconds(40));
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    replica.network.lost = 1;
  };
  sim.Set(kWeb, 'a', 130'000);
  while (Replicas() == 11) sim.Run(absl::Milliseconds(10));
  sim.cluster.on_scale_write = judge;
  sim.cluster.PutAutoscaler(AnyInUp(600).Json());
  sim.Run(absl::Milliseconds(500));
  replica.network.lost = 0;
  sim.Run(absl::Seconds(20));
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(30));
  EXPECT_GE(Replicas(), 10) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// An addition fails, and a person sets the same count before the next decision.
TEST_F(Remembered, AnAdditionThatWasRefusedIsNotTakenForAPersons) {
  SimulatedReplica& replica = BeginWithOne(AnyInUp(600));
  replica.refuses = [](const http::HttpCall& call) {
    return absl::EndsWith(call.target, "/scale");
  };
  sim.Set(kWeb, 'a', 100'000);
  sim.Run(absl::Seconds(4));
  ASSERT_EQ(Replicas(), 1);
  sim.judge.OnForeignScale(kWeb);
  sim.cluster.Scale(kWeb, 10);
  sim.Run(absl::Seconds(2));
  replica.refuses = nullptr;
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(20));
  EXPECT_EQ(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// The addition of 2, whose answer was lost, has replaced that of 8. Then a person adds one.
TEST_F(Remembered, AnUnconfirmedAdditionReplacesEarlierOnesAlsoBeforeAPersonsChange) {
  SimulatedReplica& replica = BeginWithOne(AnyInUp(15));
  Grow(9, absl::Seconds(40));
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    replica.network.lost = 1;
  };
  sim.Set(kWeb, 'a', 110'000);
  while (Replicas() == 9) sim.Run(absl::Milliseconds(10));
  sim.cluster.on_scale_write = judge;
  replica.network.lost = 0;
  ASSERT_EQ(Replicas(), 11);
  sim.judge.OnForeignScale(kWeb);
  sim.cluster.Scale(kWeb, 12);
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(20));
  EXPECT_GE(Replicas(), 9) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// Nobody has written down that its trigger was ever active: the object is new, or its status cannot
// be written.
class NewObject : public Remembered, public testing::WithParamInterface<bool> {};
TEST_P(NewObject, WhoseOwnerDiesKeepsItsCooldown) {
  const AutoscalerKey own = {.kind = AutoscalerKind::kOwn, .ns = "shop", .name = "web"};
  const SimulatedCluster::Target jobs = {"shop", "job"};
  SimulatedReplica& replica = sim.AddReplica();
  sim.Run(absl::Seconds(20));
  if (GetParam()) {
    replica.refuses = [](const http::HttpCall& call) {
      return absl::EndsWith(call.target, "/status");
    };
  }
  sim.cluster.PutDeployment(jobs, 2);
  Make({.key = own, .metrics = "", .spec = FollowingJobs("1s", 60), .annotations = ""}, 1);
  while (sim.judge.LastDecisions(own).empty()) sim.Run(absl::Milliseconds(10));
  if (GetParam()) sim.Run(absl::Minutes(5));
  replica.Kill();
  sim.cluster.DeleteDeployment(jobs);
  sim.AddReplica();
  sim.Run(absl::Seconds(50));
  EXPECT_EQ(Replicas(), 1) << sim.judge.LastDecisions(own);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(NoStatus, NewObject, testing::Bool());

TEST(CompactState, OfVeryManyAdditionsNoneIsCountedLonger) {
  const absl::Time now = absl::FromUnixSeconds(1'000'000);
  ScalerState state, compact;
  for (int i = 0; i < 500; ++i) {
    state.scale_ups.push_back({.change = 1, .time = now - absl::Seconds(i)});
  }
  CompactState(state, compact);
  EXPECT_LE(compact.scale_ups.size(), 64u);
  for (const int period : {10, 60, 64, 65, 100, 600}) {
    EXPECT_LE(ChangeWithin(compact.scale_ups, period, now), std::min(500, period)) << period;
  }
}

class ManyAdditions : public Remembered, public testing::WithParamInterface<bool> {};
TEST_P(ManyAdditions, AllowNoMoreRemovalsAfterAHandOver) {
  BeginWithOne(
      Following(R"(,"behavior":{"scaleUp":{"tolerance":"0","policies":[{"type":"Pods","value":100,)"
                R"("periodSeconds":600}]},"scaleDown":{"stabilizationWindowSeconds":0,"policies":)"
                R"([{"type":"Pods","value":1,"periodSeconds":150}]}})",
                200));
  for (int i = 2; i <= 81; ++i) Grow(i, absl::Seconds(2));
  sim.Run(absl::Seconds(2));
  if (GetParam()) {
    sim.replica(0).Stop();
    sim.AddReplica();
  }
  sim.Run(absl::Seconds(10));
  sim.Set(kWeb, 'a', 10'000);
  sim.Run(absl::Seconds(6));
  EXPECT_GE(Replicas(), 10) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(HandOver, ManyAdditions, testing::Bool());

}  // namespace
}  // namespace flyball::scaler
