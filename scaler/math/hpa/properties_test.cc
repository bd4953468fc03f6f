// What must hold for every decision, tried on all small worlds: counts of pods × what each pod is ×
// samples × tolerance × past.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "scaler/math/hpa/testing/test_world.h"

namespace flyball::scaler {
namespace {

// What a pod can be, in terms of the groups.
std::vector<TestPod> PodKinds() {
  return {{.sample = 100},
          {.sample = 500},
          {.sample = 900},
          {},  // missing
          {.sample = 900, .phase = PodPhase::kPending},
          {.sample = 900, .ready = ConditionStatus::kFalse},
          {.sample = 900, .phase = PodPhase::kFailed},
          {.sample = 900, .age_seconds = 100, .ready_since_seconds = 20}};
}

TestWorld WorldOf(const std::vector<TestPod>& pods, int metric, double tolerance) {
  TestWorld world;
  world.Replicas(static_cast<int32_t>(pods.size())).Bounds(1, 5);
  world.pods = pods;
  world.config.tolerance = tolerance;
  if (metric == 0) world.Utilization("cpu", 50);
  if (metric == 1) world.ResourceAverage("cpu", "500m");
  if (metric == 2) world.PodsMetric("500m");
  return world;
}

// Calls `check` for every multiset of up to three pods, in one order.
template <typename Check>
void ForAllWorlds(Check check) {
  const std::vector<TestPod> kinds = PodKinds();
  for (const double tolerance : {0.0, 0.1, 0.9}) {
    for (int metric = 0; metric < 3; ++metric) {
      for (size_t a = 0; a < kinds.size(); ++a) {
        check(WorldOf({kinds[a]}, metric, tolerance));
        for (size_t b = a; b < kinds.size(); ++b) {
          check(WorldOf({kinds[a], kinds[b]}, metric, tolerance));
          for (size_t c = b; c < kinds.size(); ++c) {
            check(WorldOf({kinds[a], kinds[b], kinds[c]}, metric, tolerance));
          }
        }
      }
    }
  }
}

TEST(DecideProperties, BoundsHold) {
  ForAllWorlds([](TestWorld world) {
    for (const bool behavior : {false, true}) {
      if (behavior) world.Windows(0, 0);
      const Decision got = world.Decide();
      const int32_t after = got.rescaled ? got.desired : got.current;
      EXPECT_GE(after, 1);
      EXPECT_LE(after, 5);
    }
  });
}

// A metric that failed may not take replicas away, whatever the others say.
TEST(DecideProperties, UnknownNeverScalesDown) {
  ForAllWorlds([](TestWorld world) {
    const Decision alone = world.Windows(0, 0).Decide();
    world.FailingMetric();
    const Decision got = world.Decide();
    EXPECT_GE(got.rescaled ? got.desired : got.current, got.current);
    if (alone.rescaled && alone.desired > alone.current) {
      EXPECT_EQ(got.desired, alone.desired);
    }
  });
}

TEST(DecideProperties, OrderOfPodsDoesNotMatter) {
  ForAllWorlds([](TestWorld world) {
    const Decision straight = world.Decide();
    std::reverse(world.pods.begin(), world.pods.end());
    const Decision reversed = world.Decide();
    EXPECT_EQ(straight.desired, reversed.desired);
    EXPECT_EQ(straight.proposals[0].groups, reversed.proposals[0].groups);
    EXPECT_TRUE(SemanticallyEqual(straight.status, reversed.status));
  });
}

TEST(DecideProperties, OrderOfMetricsDoesNotMatter) {
  for (int32_t a = 1; a <= 6; ++a) {
    for (int32_t b = 1; b <= 6; ++b) {
      for (int32_t c = 1; c <= 6; ++c) {
        const auto decide = [](int32_t x, int32_t y, int32_t z) {
          return TestWorld().Replicas(3).Windows(0, 0).Wants(x).Wants(y).Wants(z).Decide().desired;
        };
        const int32_t want = decide(a, b, c);
        EXPECT_EQ(decide(c, b, a), want);
        EXPECT_EQ(decide(b, c, a), want);
      }
    }
  }
}

// A decision made in buffers that another one left behind is the same as one made in fresh ones.
TEST(DecideProperties, NothingLeaksFromAnEarlierDecision) {
  Workspace workspace;
  Decision reused;
  ForAllWorlds([&](const TestWorld& world) {
    const Decision fresh = world.Decide();
    world.DecideInto(kTestNow, workspace, reused);
    EXPECT_EQ(fresh.desired, reused.desired);
    EXPECT_EQ(fresh.error, reused.error);
    EXPECT_EQ(fresh.state, reused.state);
    EXPECT_EQ(fresh.events.size(), reused.events.size());
    EXPECT_TRUE(SemanticallyEqual(fresh.status, reused.status));
  });
}

// With equal versions the proposals are kept, and the decision is the one that making them anew
// gives; until a pod ends its initialisation.
TEST(DecideProperties, AnUnchangedReadingKeepsItsProposal) {
  TestWorld world = TestWorld().Replicas(2).Pods(1, 900).With(
      {.sample = 900, .age_seconds = 290, .ready_since_seconds = 5, .sample_age_seconds = 10});
  world.Utilization("cpu", 50);
  world.keep_versions = true;
  Workspace workspace;
  Decision decision;
  world.DecideInto(kTestNow, workspace, decision);
  EXPECT_EQ(decision.proposals_kept, 0u);
  EXPECT_EQ(decision.proposals[0].replicas, 2);  // the young pod is unready
  world.DecideInto(kTestNow + absl::Seconds(9), workspace, decision);
  EXPECT_EQ(decision.proposals_kept, 1u);
  EXPECT_EQ(decision.proposals[0].replicas, 2);
  EXPECT_EQ(decision.proposals[0].age, absl::Seconds(19));
  world.DecideInto(kTestNow + absl::Seconds(10), workspace, decision);
  EXPECT_EQ(decision.proposals_kept, 0u);
  EXPECT_EQ(decision.proposals[0].replicas, 4);  // 300 s old: it counts
}

}  // namespace
}  // namespace flyball::scaler
