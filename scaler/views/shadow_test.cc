#include "scaler/views/shadow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace flyball::scaler {
namespace {

constexpr absl::Time kStart = absl::FromUnixSeconds(1700000000);

class ShadowTest : public testing::Test {
 protected:
  ShadowTest() {
    managed_.key = {.kind = AutoscalerKind::kHpa, .ns = "shop", .name = "web"};
    ours_.outcome = Outcome::kDecided;
  }

  // We say `desired` at a count of `current` with a reading of `milli`.
  void Ours(int32_t current, int32_t desired, int64_t milli = 1000, Mode mode = Mode::kShadow) {
    ours_.current = current;
    ours_.status = Status(current, desired, milli);
    DecisionRecord record;
    record.managed = std::make_shared<Managed>(managed_);
    record.mode = mode;
    record.decision = &ours_;
    record.time = clock_.WallNow();
    shadow_.OnDecision(record);
  }

  void Theirs(int32_t current, int32_t desired, int64_t milli = 1000,
              const std::string& limited = "DesiredWithinRange") {
    Managed managed = managed_;
    managed.autoscaler.status = Status(current, desired, milli);
    managed.autoscaler.status.conditions[0].reason = limited;
    shadow_.OnForeignStatus(std::make_shared<Managed>(managed));
  }

  void Pass(int seconds) { clock_.Advance(absl::Seconds(seconds)); }

  AutoscalerStatus Status(int32_t current, int32_t desired, int64_t milli) const {
    AutoscalerStatus status;
    status.current_replicas = current;
    status.desired_replicas = desired;
    MetricStatus metric;
    metric.average_value = kube::Quantity::FromMilli(milli, kube::Quantity::Format::kDecimalSI);
    status.current_metrics.push_back(metric);
    status.conditions.push_back({.type = "ScalingLimited",
                                 .status = ConditionStatus::kFalse,
                                 .reason = "DesiredWithinRange",
                                 .message = "",
                                 .last_transition_time = std::nullopt,
                                 .observed_generation = std::nullopt});
    status.conditions.insert(status.conditions.end(), more_.begin(), more_.end());
    return status;
  }

  uint64_t Different(ShadowReason reason) const {
    return shadow_.counts().different[static_cast<size_t>(reason)];
  }

  Managed managed_;
  Decision ours_;
  std::vector<Condition> more_;  // of both, from now on
  SimulatedClock clock_{kStart};
  Shadow shadow_{ShadowOptions(), clock_};
};

TEST_F(ShadowTest, ADecisionOfTheLastPeriodThatAgreesIsEqual) {
  Ours(5, 8);
  Pass(19);
  Theirs(5, 8, 990);
  EXPECT_EQ(shadow_.counts().equal, 1u);
  EXPECT_EQ(shadow_.counts().DifferentInAll(), 0u);
}

TEST_F(ShadowTest, SoIsOneOfTheNextPeriod) {
  Ours(5, 5);
  Pass(3);
  Theirs(5, 8);
  EXPECT_EQ(shadow_.counts().equal, 0u);
  EXPECT_TRUE(shadow_.Report().objects[0].open);
  Pass(12);
  Ours(8, 8);  // it has been scaled meanwhile, and we would leave it there
  EXPECT_EQ(shadow_.counts().equal, 1u);
  EXPECT_FALSE(shadow_.Report().objects[0].open);
}

TEST_F(ShadowTest, ARunOfEqualDecisionsCountsWithItsWholeLength) {
  Ours(5, 5);
  for (int i = 0; i < 100; ++i) {
    Pass(1);
    Ours(5, 5, 1000 + i);
  }
  Theirs(5, 5);
  EXPECT_EQ(shadow_.counts().equal, 1u);
}

// Decisions go on, none agrees, and after the window it is told why.
TEST_F(ShadowTest, OtherReadingsAreAReason) {
  Ours(5, 5, 1000);
  Theirs(5, 8, 1600);
  Pass(21);
  Ours(5, 5, 1000);
  EXPECT_EQ(Different(ShadowReason::kReadings), 1u);
  const ShadowObject object = shadow_.Report().objects[0];
  ASSERT_EQ(object.last.size(), 1u);
  EXPECT_EQ(object.last[0].detail, "readings 1600 / 1000");
  EXPECT_EQ(object.last[0].theirs.desired, 8);
  EXPECT_EQ(object.last[0].ours->desired, 5);
}

TEST_F(ShadowTest, AnotherScaleIsAReason) {
  Ours(4, 4);
  Theirs(5, 8);
  Pass(21);
  Ours(4, 4);
  EXPECT_EQ(Different(ShadowReason::kScale), 1u);
}

TEST_F(ShadowTest, NotKnowingIsAReason) {
  ours_.outcome = Outcome::kMetricsFailed;
  Ours(5, 8);  // the same number does not count: it is only held
  Theirs(5, 8);
  Pass(21);
  Ours(5, 8);
  EXPECT_EQ(Different(ShadowReason::kUnknown), 1u);
}

TEST_F(ShadowTest, FailingAlikeIsEqual) {
  const Condition failed = {.type = "ScalingActive",
                            .status = ConditionStatus::kFalse,
                            .reason = "FailedGetExternalMetric",
                            .message = "",
                            .last_transition_time = std::nullopt,
                            .observed_generation = std::nullopt};
  ours_.outcome = Outcome::kMetricsFailed;
  more_ = {failed};
  Ours(5, 0);
  Theirs(5, 3);  // of before it failed: neither changes anything
  EXPECT_EQ(shadow_.counts().equal, 1u);
  // For other reasons it is not.
  more_[0].reason = "FailedGetPodsMetric";
  Ours(5, 0);
  more_[0].reason = "FailedGetObjectMetric";
  Theirs(5, 4);
  Pass(21);
  more_[0].reason = "FailedGetPodsMetric";
  Ours(5, 0);
  EXPECT_EQ(Different(ShadowReason::kUnknown), 1u);
}

TEST_F(ShadowTest, FailingHereAloneIsUnknown) {
  ours_.outcome = Outcome::kMetricsFailed;
  more_ = {{.type = "ScalingActive",
            .status = ConditionStatus::kFalse,
            .reason = "FailedGetExternalMetric",
            .message = "",
            .last_transition_time = std::nullopt,
            .observed_generation = std::nullopt}};
  Ours(5, 5);
  more_[0].status = ConditionStatus::kTrue;
  more_[0].reason = "ValidMetricFound";
  Theirs(5, 5);
  Pass(21);
  more_[0].status = ConditionStatus::kFalse;
  more_[0].reason = "FailedGetExternalMetric";
  Ours(5, 5);
  EXPECT_EQ(Different(ShadowReason::kUnknown), 1u);
}

TEST_F(ShadowTest, WhatIsNotDecidedHereIsNotCompared) {
  Theirs(5, 8);
  Theirs(5, 8);
  EXPECT_EQ(shadow_.counts().DifferentInAll(), 0u);
  EXPECT_TRUE(shadow_.Report().objects.empty());
}

TEST_F(ShadowTest, WhatWeSaidLongBeforeIsLag) {
  Ours(5, 8);
  Pass(40);
  Ours(5, 5);
  Theirs(5, 8);
  Pass(21);
  Ours(5, 5);
  EXPECT_EQ(Different(ShadowReason::kLag), 1u);
}

TEST_F(ShadowTest, OtherConditionsAreAReason) {
  Ours(5, 5);
  Theirs(5, 8, 1000, "ScaleUpLimit");
  Pass(21);
  Ours(5, 5);
  EXPECT_EQ(Different(ShadowReason::kConditions), 1u);
}

TEST_F(ShadowTest, NoReasonIsOther) {
  Ours(5, 5);
  Theirs(5, 8);
  Pass(21);
  Ours(5, 5);
  EXPECT_EQ(Different(ShadowReason::kOther), 1u);
}

TEST_F(ShadowTest, OnlyShadowedHpasAreCompared) {
  Ours(5, 5, 1000, Mode::kAct);
  EXPECT_TRUE(shadow_.Report().objects.empty());
}

TEST_F(ShadowTest, AnHpaThatLeavesTheModeIsForgotten) {
  Ours(5, 5);
  Theirs(5, 8);
  Ours(5, 5, 1000, Mode::kAct);
  EXPECT_TRUE(shadow_.Report().objects.empty());
  Pass(3600);
  Ours(5, 5);
  EXPECT_EQ(shadow_.counts().DifferentInAll(), 0u) << "of a status that is an hour old";
}

TEST_F(ShadowTest, WhatIsForgottenStaysInTheTotals) {
  Ours(5, 5);
  Theirs(5, 5);
  shadow_.OnForgotten(managed_.key);
  EXPECT_TRUE(shadow_.Report().objects.empty());
  EXPECT_EQ(shadow_.Report().counts.equal, 1u);
}

TEST_F(ShadowTest, TellsTheLastFewDifferences) {
  for (int i = 0; i < 9; ++i) {
    Ours(5, 5);
    Theirs(5, 8 + i, 1600);
    Pass(21);
    Ours(5, 5);
  }
  const ShadowObject object = shadow_.Report().objects[0];
  EXPECT_EQ(object.counts.DifferentInAll(), 9u);
  ASSERT_EQ(object.last.size(), 5u);
  EXPECT_EQ(object.last[4].theirs.desired, 16);
}

}  // namespace
}  // namespace flyball::scaler
