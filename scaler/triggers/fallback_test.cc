#include "scaler/triggers/fallback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

struct FallbackRow {
  std::string name;
  int32_t failures = 4;
  std::optional<int32_t> replicas = 6;
  TargetType type = TargetType::kAverageValue;
  int32_t ready_pods = 3;
  std::optional<int64_t> value_milli = {};  // absent: still unknown
  bool active = true;
  bool known = false;
  int64_t target_milli = 10'000;
};

class ApplyFallbackTest : public testing::TestWithParam<FallbackRow> {};

TEST_P(ApplyFallbackTest, Row) {
  const FallbackRow& row = GetParam();
  const TriggerMetric metric{
      .name = "s0-prometheus", .target_type = row.type, .target_milli = row.target_milli};
  const TriggerReading reading = row.known ? TriggerReading{.value_milli = 7, .active = true}
                                           : TriggerReading{.error = "status 503"};
  const TriggerReading got = ApplyFallback({.metric = metric,
                                            .reading = reading,
                                            .fallback = {3, row.replicas},
                                            .failures = row.failures,
                                            .ready_pods = row.ready_pods});
  EXPECT_EQ(got.error.empty(), row.value_milli.has_value()) << got.error;
  if (!row.value_milli) return;
  EXPECT_EQ(got.value_milli, *row.value_milli);
  EXPECT_EQ(got.active, row.active);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ApplyFallbackTest,
    testing::Values(
        FallbackRow{.name = "TheThirdFailureIsStillUnknown", .failures = 3},
        // 10 * 6
        FallbackRow{.name = "TheFourthAsksForTheReplicas", .value_milli = 60'000},
        // 10 * 6 / 3: the math multiplies by the ready pods again
        FallbackRow{
            .name = "ValueIsDividedByReadyPods", .type = TargetType::kValue, .value_milli = 20'000},
        FallbackRow{
            .name = "ValueWithoutReadyPodsIsUnknown", .type = TargetType::kValue, .ready_pods = 0},
        FallbackRow{
            .name = "ZeroReplicasAreInactive", .replicas = 0, .value_milli = 0, .active = false},
        FallbackRow{.name = "ZeroReplicasNeedNoReadyPods",
                    .replicas = 0,
                    .type = TargetType::kValue,
                    .ready_pods = 0,
                    .value_milli = 0,
                    .active = false},
        FallbackRow{.name = "WithoutReplicasItHolds", .replicas = std::nullopt},
        FallbackRow{.name = "TooLargeIsUnknown", .target_milli = kMaxMetricMilli},
        FallbackRow{.name = "WhatIsKnownCounts", .value_milli = 7, .known = true}),
    [](const auto& info) { return info.param.name; });

TEST(ApplyFallback, ATriggerThatIsActiveStaysSo) {
  const TriggerReading got = ApplyFallback({.metric = {.name = "s0-queue", .target_milli = 1000},
                                            .reading = {.error = "status 503", .active = true},
                                            .fallback = {.after_failures = 3, .replicas = 0},
                                            .failures = 4});
  EXPECT_EQ(got.error, "");
  EXPECT_TRUE(got.active);
}

// Its server is well.
TEST(ApplyFallback, ATriggerThatTellsOfActivityAloneNeedsNone) {
  const TriggerReading got =
      ApplyFallback({.metric = {.name = "s0-queue", .target_milli = 1000},
                     .reading = {.error = "it gives no value", .activity_only = true},
                     .fallback = {.after_failures = 0, .replicas = 2},
                     .failures = 1});
  EXPECT_EQ(got.error, "it gives no value");
  EXPECT_FALSE(got.active);
}

}  // namespace
}  // namespace flyball::scaler
