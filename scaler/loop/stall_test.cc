// Courses in which the process does not run for a while and then goes on in the middle of what it
// was doing, before it has read what has happened meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "scaler/testing/simulation.h"

namespace flyball::scaler {
namespace {

using testing::IsEmpty;

constexpr char kScaleDownAtOnce[] = R"(,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}})";
constexpr char kNever[] = R"(,"behavior":{"scaleDown":{"selectPolicy":"Disabled"}})";

AutoscalerText WithBehavior(const std::string& behavior) {
  return {.key = kHpa,
          .metrics = MetricOf('a', "web", 10),
          .spec = absl::StrCat(R"(,"minReplicas":1,"maxReplicas":20)", behavior),
          .annotations = ""};
}

// The parameter moves the moments of all threads.
class Stall : public testing::TestWithParam<int> {
 protected:
  // A replica that has just come to look at four pods, which are right, is stopped.
  SimulatedReplica& Stopped() {
    SimulatedReplica& replica = sim.AddReplica();
    sim.Set(kWeb, 'a', 40'000);
    sim.cluster.PutDeployment(kWeb, 4);
    sim.cluster.PutAutoscaler(WithBehavior(kScaleDownAtOnce).Json());
    sim.Run(absl::Seconds(20) + GetParam() * absl::Milliseconds(40));
    replica.Freeze();
    sim.Run(absl::Seconds(1));
    return replica;
  }
  // While it is stopped, its stream of autoscalers ends, the autoscaler is edited, which forbids any
  // change, and the load changes. The next stream is opened when it runs again.
  void ExpectFourAfter(const AutoscalerText& edited, int load) {
    SimulatedReplica& replica = Stopped();
    replica.CloseWatch("horizontalpodautoscalers", absl::Milliseconds(500));
    sim.cluster.PutAutoscaler(edited.Json());
    sim.Set(kWeb, 'a', load);
    sim.Run(absl::Seconds(8));
    replica.Thaw();
    sim.Run(absl::Seconds(30));
    EXPECT_EQ(Replicas(), 4) << sim.judge.LastDecisions(kHpa);
    EXPECT_THAT(sim.judge.wrong(), IsEmpty());
  }
  int Replicas() const { return sim.cluster.Replicas(kWeb); }

  Simulation sim{static_cast<uint32_t>(GetParam())};
};

TEST_P(Stall, HidesNoPause) {
  AutoscalerText paused = WithBehavior(kScaleDownAtOnce);
  paused.annotations = R"("flyball.dev/paused-until":"2036-01-01T00:00:00Z")";
  ExpectFourAfter(paused, 80'000);
}

TEST_P(Stall, HidesNoEditThatForbidsARemoval) { ExpectFourAfter(WithBehavior(kNever), 20'000); }

TEST_P(Stall, DelaysARemovalBySeconds) {
  SimulatedReplica& replica = Stopped();
  sim.Set(kWeb, 'a', 20'000);
  sim.Run(absl::Seconds(8));
  replica.Thaw();
  sim.Run(absl::Seconds(6));
  EXPECT_EQ(Replicas(), 2) << sim.judge.LastDecisions(kHpa);
  EXPECT_THAT(sim.judge.wrong(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(At, Stall, testing::Range(0, 50));

}  // namespace
}  // namespace flyball::scaler
