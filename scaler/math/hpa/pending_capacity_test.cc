// The guard of pending capacity (math/pending_capacity.h) as decisions see it: single states, and
// an inference server in closed loop with the math, as its exporter and its pods would show it.
#include "scaler/math/pending_capacity.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scaler/math/hpa/testing/test_world.h"

namespace flyball::scaler {
namespace {

TestPod Serving(int age, int load) {
  return {.age_seconds = age, .ready_since_seconds = age - load};
}
TestPod Loading(int age) {
  return {.age_seconds = age, .ready = ConditionStatus::kFalse, .ready_since_seconds = age};
}
TestPod Unscheduled() {
  return {.phase = PodPhase::kPending, .age_seconds = {}, .ready_since_seconds = {}};
}
TestPod Overloaded() { return {.ready = ConditionStatus::kFalse, .ready_since_seconds = 10}; }

struct PendingCapacityRow {
  std::string name;
  std::vector<TestPod> pods;
  bool holds;
  int growing_for = 60;  // seconds; negative: not known
  int32_t replicas = 3;
};

class PendingCapacityTest : public testing::TestWithParam<PendingCapacityRow> {};

TEST_P(PendingCapacityTest, Row) {
  const PendingCapacityRow& row = GetParam();
  TestWorld world;
  world.Bounds(1, 10).Replicas(row.replicas).Wants(5);
  world.autoscaler.pending_capacity = true;
  world.pods = row.pods;
  if (row.growing_for >= 0) world.state.growing_since = kTestNow - absl::Seconds(row.growing_for);
  const Decision decision = world.Decide();
  EXPECT_EQ(decision.rescale ? decision.desired : decision.current, row.holds ? row.replicas : 5);
  const Condition& limited = decision.status.conditions.back();
  EXPECT_EQ(limited.reason == "PendingCapacity", row.holds) << limited.reason;
}

INSTANTIATE_TEST_SUITE_P(
    States, PendingCapacityTest,
    testing::Values(
        PendingCapacityRow{
            "AllServe", {Serving(900, 180), Serving(900, 180), Serving(900, 180)}, false},
        PendingCapacityRow{"OneLoads", {Serving(900, 180), Serving(900, 180), Loading(100)}, true},
        PendingCapacityRow{"OneIsNotThereYet", {Serving(900, 180), Serving(900, 180)}, true},
        PendingCapacityRow{
            "NoNodeHasTakenOne", {Serving(900, 180), Serving(900, 180), Unscheduled()}, true},
        PendingCapacityRow{"OneHasServedShorterThanItLoaded",
                           {Serving(900, 180), Serving(900, 180), Serving(359, 180)},
                           true},
        PendingCapacityRow{"AllHaveServedAsLongAsTheyLoaded",
                           {Serving(900, 180), Serving(900, 180), Serving(360, 180)},
                           false},
        PendingCapacityRow{
            "TheWindowOfTheFirstAskIsOpen", {Serving(900, 180), Loading(10)}, false, 14},
        PendingCapacityRow{
            "TheWindowOfTheFirstAskIsOver", {Serving(900, 180), Loading(10)}, true, 15},
        PendingCapacityRow{"ARestartKnowsNoWindow", {Serving(900, 180), Loading(10)}, true, -1},
        PendingCapacityRow{"APodThatWasReadyIsNotPending",
                           {Serving(900, 180), Serving(900, 180), Overloaded()},
                           false},
        PendingCapacityRow{"OneThatNeverBecomesReadyIsGivenUp",
                           {Serving(900, 180), Serving(900, 180), Loading(600)},
                           false},
        PendingCapacityRow{"OneThatNoNodeTakesIsGivenUp",
                           {Serving(900, 180), Serving(900, 180), Unscheduled()},
                           false,
                           600},
        PendingCapacityRow{"ADeletedPodIsReplaced",
                           {Serving(900, 180), Serving(900, 180), {.deleting = true}},
                           true}),
    [](const auto& info) { return info.param.name; });

TEST(PendingCapacity, AnHpaIsNotHeld) {
  TestWorld world;
  world.Bounds(1, 10).Replicas(3).Wants(5).With(Loading(100));
  EXPECT_EQ(world.Decide().desired, 5);
}

TEST(PendingCapacity, ShrinkingIsNotHeld) {
  TestWorld world;
  world.Bounds(1, 10).Replicas(3).Wants(2).With(Loading(100)).Windows(0, 0);
  world.autoscaler.pending_capacity = true;
  EXPECT_EQ(world.Decide().desired, 2);
}

TEST(PendingCapacity, ARecommendationOfTheWindowDoesNotGrowItLater) {
  TestWorld world;
  world.Bounds(1, 20).Replicas(4).Wants(4).With(Loading(100)).Past(9, 100);
  world.autoscaler.pending_capacity = true;
  EXPECT_FALSE(world.Decide().rescale);
  world.autoscaler.pending_capacity = false;
  EXPECT_EQ(world.Decide().desired, 8);  // twice the current count
}

// ---- an inference server and its autoscaler -----------------------------------------------------

constexpr int kLoadSeconds = 180;
constexpr int kPatience = 60;      // seconds until a client gives a waiting request up
constexpr int kServed = 10;        // requests a second and replica
constexpr int kQueueTarget = 150;  // waiting requests a replica
constexpr int kMaxReplicas = 8;

// A target whose pods load for three minutes, and the autoscaler that looks at its
// vllm:num_requests_waiting each `period` seconds, as an External AverageValue metric.
class ModelServer {
 public:
  ModelServer(bool guarded, int period) : period_(period) {
    world_.Bounds(1, kMaxReplicas).ExternalAverage(absl::StrCat(kQueueTarget), {"0"});
    world_.autoscaler.pending_capacity = guarded;
  }

  // Plays `seconds` at `rate` requests a second; the most replicas that there were.
  int Play(int rate, int seconds) {
    int most = 0;
    for (const int end = second_ + seconds; second_ < end; ++second_) {
      const int surplus = rate - kServed * Serving();
      queue_ = std::clamp(queue_ + surplus, 0, std::max(0, surplus) * kPatience);
      if (second_ % period_ == 0) Decide();
      most = std::max(most, replicas());
    }
    return most;
  }

  void LoseSeries() { world_.readings[0].error = "no series"; }
  int replicas() const { return static_cast<int>(starts_.size()); }

 private:
  bool Serves(int start) const { return second_ - start >= kLoadSeconds; }
  int Serving() const {
    return static_cast<int>(
        std::count_if(starts_.begin(), starts_.end(), [this](int start) { return Serves(start); }));
  }

  void Decide() {
    world_.Replicas(replicas());
    world_.pods.clear();
    for (const int start : starts_) {  // the world tells ages at kTestNow, which is second 0
      world_.With({.age_seconds = -start,
                   .ready = Serves(start) ? ConditionStatus::kTrue : ConditionStatus::kFalse,
                   .ready_since_seconds = -start - (Serves(start) ? kLoadSeconds : 0)});
    }
    world_.readings[0].amounts_milli = {queue_ * int64_t{1000}};
    world_.DecideInto(kTestNow + absl::Seconds(second_), workspace_, decision_);
    world_.state = decision_.state;
    if (decision_.rescaled) starts_.resize(static_cast<size_t>(decision_.desired), second_);
  }

  const int period_;
  TestWorld world_;
  Workspace workspace_;
  Decision decision_;
  std::vector<int> starts_ = {-1000};  // when each replica's pod was started, the oldest first
  int second_ = 0;
  int queue_ = 0;
};

// A load step that comes `phase` seconds after a decision.
class LoadStepTest : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(LoadStepTest, IsAnsweredOnce) {
  const auto& [rate, period, phase] = GetParam();
  const int need = (rate + kServed - 1) / kServed;
  ModelServer guarded(true, period), unguarded(false, period);
  EXPECT_EQ(guarded.Play(8, 60 + phase), 1);
  EXPECT_EQ(unguarded.Play(8, 60 + phase), 1);
  EXPECT_EQ(unguarded.Play(rate, 3600), kMaxReplicas);
  const int most = guarded.Play(rate, 3600);
  EXPECT_LE(most, need + 1);
  EXPECT_GE(most, 2);  // nor is the load left unanswered
}

INSTANTIATE_TEST_SUITE_P(Loads, LoadStepTest,
                         testing::Combine(testing::Values(30, 40, 50), testing::Values(1, 5, 15),
                                          testing::Values(1, 4, 8, 14)));

TEST(PendingCapacity, ASecondStepIsAnsweredAfterTheFirst) {
  ModelServer server(true, 15);
  server.Play(8, 60);
  server.Play(30, 900);
  EXPECT_LE(server.replicas(), 4);
  EXPECT_GE(server.Play(70, 3600), 6);
}

TEST(PendingCapacity, StaleSeriesDecideNothing) {
  ModelServer server(true, 15);
  server.Play(8, 60);
  server.Play(30, 30);
  const int asked = server.replicas();
  EXPECT_GT(asked, 1);
  server.LoseSeries();
  EXPECT_EQ(server.Play(30, 3600), asked);
  EXPECT_EQ(server.replicas(), asked);
}

}  // namespace
}  // namespace flyball::scaler
