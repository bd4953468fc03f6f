// What whoever takes autoscalers over has to find out before it makes a target smaller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "http/client/transport.h"
#include "scaler/testing/simulation.h"

namespace flyball::scaler {
namespace {

using testing::IsEmpty;

// An Autoscaler (CRD) of the target `web`.
std::string FollowingAt(const std::string& name, const std::string& interval,
                        const std::string& scale_down, int max = 20) {
  return absl::StrCat(
      R"({"apiVersion":"flyball.dev/v1alpha1","kind":"Autoscaler","metadata":{"namespace":"shop",)",
      R"("name":")", name, R"("},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1",)",
      R"("kind":"Deployment","name":"web"},"minReplicas":1,"maxReplicas":)", max, R"(,"metrics":[)",
      MetricOf('a', "web", 10), R"(],"cadence":{"interval":")", interval,
      R"("},"behavior":{"scaleDown":{"stabilizationWindowSeconds":0)", scale_down, "}}}}");
}

class Takeover : public testing::Test {
 protected:
  int Replicas() const { return sim.cluster.Replicas(kWeb); }

  Simulation sim{1};
};

// A removal takes effect, but its answer is lost, and with it the shard. The other replica finds the
// removal by the count, undoes it under load, cannot write that down and dies. The first one then
// finds the count that it had before. It may have had a slot meanwhile, or none.
class LostRemoval : public Takeover, public testing::WithParamInterface<bool> {};
TEST_P(LostRemoval, CountsForWhoWinsItsShardBack) {
  constexpr char kThree[] = R"(,"policies":[{"type":"Pods","value":3,"periodSeconds":600}])";
  const bool has_slot = GetParam();
  SimulatedReplica& first = sim.AddReplica();
  sim.Set(kWeb, 'a', 100'000);
  sim.cluster.PutDeployment(kWeb, 10);
  sim.cluster.PutAutoscaler(FollowingAt("web", "60s", kThree));
  sim.Run(absl::Seconds(150));
  const auto judge = sim.cluster.on_scale_write;
  sim.cluster.on_scale_write = [&](const SimulatedCluster::ScaleWrite& write) {
    judge(write);
    first.network.lost = 1;
  };
  sim.Set(kWeb, 'a', 10'000);
  while (Replicas() == 10) sim.Run(absl::Milliseconds(10));
  ASSERT_EQ(Replicas(), 7);
  sim.cluster.on_scale_write = judge;
  first.network.refused = 1;
  sim.Run(absl::Seconds(6));
  sim.Set(kWeb, 'a', 100'000);
  SimulatedReplica& second = sim.AddReplica();
  second.refuses = [](const http::HttpCall& call) {
    return absl::StrContains(call.target, "/configmaps") && call.method != "GET";
  };
  while (!second.Owns(kOwn)) sim.Run(absl::Milliseconds(100));
  if (!has_slot) {
    first.BreakWatch("autoscalers", absl::UnavailableError("connection reset"));
    sim.cluster.PutAutoscaler(FollowingAt("web", "60s", kThree, /*max=*/19));
  }
  while (Replicas() != 10) sim.Run(absl::Milliseconds(100));
  sim.Run(absl::Seconds(1));
  second.Kill();
  first.network = {};
  while (!first.Owns(kOwn)) sim.Run(absl::Milliseconds(100));
  sim.Set(kWeb, 'a', 10'000);
  if (!has_slot) first.HealWatch("autoscalers", /*list_anew=*/false);
  sim.Run(absl::Seconds(150));
  EXPECT_EQ(Replicas(), 10) << sim.judge.LastDecisions(kOwn);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(HasSlot, LostRemoval, testing::Bool());

// An addition meets a conflict. Before the scale is read again, which takes long and fails, the
// replica is frozen, and another one takes over, removes a replica and ends in order.
TEST_F(Takeover, AWriteThatFailsInALaterTermIsReportedInNone) {
  SimulatedReplica& first = sim.AddReplica();
  sim.Set(kWeb, 'a', 100'000);
  sim.cluster.PutDeployment(kWeb, 10);
  sim.cluster.PutAutoscaler(
      FollowingAt("web", "2s", R"(,"policies":[{"type":"Pods","value":1,"periodSeconds":600}])"));
  sim.Run(absl::Seconds(40));
  bool frozen = false;
  first.refuses = [&](const http::HttpCall& call) {
    if (!absl::EndsWith(call.target, "/scale")) return false;
    if (call.method == "PUT" && !std::exchange(frozen, true)) {
      sim.judge.OnForeignScale(kWeb);
      sim.cluster.Scale(kWeb, 11);
      first.Freeze();
      return false;
    }
    if (call.method != "GET") return false;
    sim.time.Sleep(absl::Seconds(8));
    return true;
  };
  sim.Set(kWeb, 'a', 150'000);
  while (!frozen) sim.Run(absl::Milliseconds(100));
  ASSERT_EQ(Replicas(), 11);
  sim.Set(kWeb, 'a', 10'000);
  SimulatedReplica& second = sim.AddReplica();
  sim.Run(absl::Seconds(40));
  ASSERT_EQ(Replicas(), 10) << sim.judge.LastDecisions(kOwn);
  second.Stop();
  sim.Run(absl::Seconds(2));
  ASSERT_FALSE(second.alive());
  first.Thaw();
  sim.Run(absl::Minutes(2));
  EXPECT_EQ(Replicas(), 10) << sim.judge.LastDecisions(kOwn);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

// A replica is frozen while another one takes over, grows the targets and ends in order. Thawed, it
// finds in one round of its election that it has lost its shards and that nobody holds them. It reads
// what was saved of the last shard long after it owns the first one.
class FrozenReplica : public testing::TestWithParam<int> {};
TEST_P(FrozenReplica, KnowsWhatOthersDecidedMeanwhile) {
  ScalerOptions options = Simulation::ActOnAll();
  options.sync_period = absl::Seconds(15);
  Simulation sim(1, options);
  SimulatedReplica& first = sim.AddReplica(/*shards=*/4);
  std::vector<SimulatedCluster::Target> targets;
  for (int i = 0; i < 8; ++i) {
    targets.push_back({absl::StrCat("n", i), "web"});
    sim.Set(targets.back(), 'a', 100'000);
    sim.cluster.PutDeployment(targets.back(), 10);
    sim.cluster.PutAutoscaler(
        AutoscalerText{.key = {AutoscalerKind::kHpa, targets.back().first, "web"},
                       .metrics = MetricOf('a', "web", 10),
                       .spec = R"(,"minReplicas":1,"maxReplicas":40,"behavior":{"scaleDown":)"
                               R"({"stabilizationWindowSeconds":300}})",
                       .annotations = ""}
            .Json());
  }
  const auto all_have = [&](int replicas) {
    return std::all_of(targets.begin(), targets.end(), [&](const auto& target) {
      return sim.cluster.Replicas(target) == replicas;
    });
  };
  sim.Run(absl::Seconds(60));
  first.Freeze();
  SimulatedReplica& second = sim.AddReplica(/*shards=*/4);
  sim.Run(absl::Seconds(20));
  for (const auto& target : targets) sim.Set(target, 'a', 200'000);
  sim.Run(absl::Seconds(40));
  ASSERT_TRUE(all_have(20));
  for (const auto& target : targets) sim.Set(target, 'a', 100'000);
  second.Stop();
  sim.Run(absl::Seconds(1) + GetParam() * absl::Milliseconds(500));
  ASSERT_FALSE(second.alive());
  first.network = {.slow = 1, .slow_delay = absl::Milliseconds(400)};
  first.Thaw();
  sim.Run(absl::Seconds(40));
  EXPECT_TRUE(all_have(20));
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(ThawedAt, FrozenReplica, testing::Range(0, 30));

}  // namespace
}  // namespace flyball::scaler
