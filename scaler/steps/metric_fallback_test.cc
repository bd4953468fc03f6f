#include "scaler/steps/metric_fallback.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace flyball::scaler {
namespace {

using Then = MetricFallback::Then;

struct MetricFallbackRow {
  std::string name;
  MetricFallback fallback;
  std::optional<int32_t> asked = std::nullopt;     // before it was unknown
  int failures = 1;                                // decisions in which it is
  absl::Duration later = {};                       // from the first of them to now
  std::optional<int32_t> expected = std::nullopt;  // at 5 replicas, of 2 to 9
  absl::Duration left = absl::InfiniteDuration();
};

class CountInsteadTest : public testing::TestWithParam<MetricFallbackRow> {};

TEST_P(CountInsteadTest, Row) {
  const MetricFallbackRow& row = GetParam();
  Proposal last;
  last.valid = row.asked.has_value();
  last.replicas = row.asked.value_or(0);
  const MonotonicTime begin = absl::Hours(1);
  MetricOutage outage;
  for (int i = 0; i < row.failures; ++i) NoteFailure(&last, begin + absl::Seconds(i), outage);
  const absl::Time wall = absl::FromUnixSeconds(1'000'000);
  const std::optional<Reading::Instead> got =
      CountInstead(row.fallback, outage, {.current = 5, .min = 2, .max = 9},
                   {.wall = wall, .monotonic = begin + row.later});
  ASSERT_EQ(got.has_value(), row.expected.has_value());
  if (!got.has_value()) return;
  EXPECT_EQ(got->replicas, *row.expected);
  EXPECT_EQ(got->until - wall, row.left);
}

constexpr absl::Duration kKept = absl::Minutes(5);

INSTANTIATE_TEST_SUITE_P(
    Fallbacks, CountInsteadTest,
    testing::Values(
        MetricFallbackRow{.name = "WhatItAskedForLast",
                          .fallback = {.keep_last = kKept},
                          .asked = 8,
                          .later = absl::Minutes(2),
                          .expected = 8,
                          .left = absl::Minutes(3)},
        MetricFallbackRow{.name = "AKeptCountShrinksNothing",
                          .fallback = {.keep_last = kKept},
                          .asked = 3,
                          .expected = 5,
                          .left = kKept},
        MetricFallbackRow{.name = "NothingIsKeptOfOneThatWasNeverKnown",
                          .fallback = {.keep_last = kKept}},
        MetricFallbackRow{.name = "AtTheEndItIsUnknown",
                          .fallback = {.keep_last = kKept},
                          .asked = 8,
                          .later = kKept},
        MetricFallbackRow{.name = "AtTheEndTheCount",
                          .fallback = {.keep_last = kKept, .then = Then::kReplicas, .replicas = 3},
                          .asked = 8,
                          .later = kKept,
                          .expected = 3},
        MetricFallbackRow{.name = "NeverKnownCountsFromTheStart",
                          .fallback = {.keep_last = kKept, .then = Then::kMax},
                          .later = kKept,
                          .expected = 9},
        MetricFallbackRow{.name = "ThreeFailuresAreWaitedFor",
                          .fallback = {.keep_last = {}, .then = Then::kMin},
                          .asked = 8,
                          .failures = 3},
        MetricFallbackRow{.name = "TheFourthCounts",
                          .fallback = {.keep_last = {}, .then = Then::kMin},
                          .asked = 8,
                          .failures = 4,
                          .expected = 2},
        MetricFallbackRow{.name = "NoFailureIsWaitedFor",
                          .fallback = {.keep_last = {}, .after_failures = 0, .then = Then::kMax},
                          .expected = 9}),
    [](const auto& info) { return info.param.name; });

// A count that stood in for a reading is nothing that the metric asked for.
TEST(NoteFailure, AFallbackIsNotRemembered) {
  Proposal last;
  last.valid = true;
  last.verdict = Verdict::kInstead;
  last.replicas = 8;
  MetricOutage outage;
  NoteFailure(&last, absl::ZeroDuration(), outage);
  EXPECT_FALSE(outage.asked.has_value());
  EXPECT_EQ(outage.failures, 1);
}

TEST(FallbackOfTrigger, TheyStandBehindThoseOfTheMetrics) {
  OwnSpec own;
  EXPECT_EQ(FallbackOfTrigger(own, 1, 0), nullptr);
  own.metric_fallbacks.resize(3);  // of one metric and two triggers
  own.metric_fallbacks[0].emplace();
  own.metric_fallbacks[2].emplace();
  EXPECT_EQ(FallbackOfTrigger(own, 1, 0), nullptr);
  EXPECT_EQ(FallbackOfTrigger(own, 1, 1), &*own.metric_fallbacks[2]);
  EXPECT_EQ(FallbackOfTrigger(own, 1, 2), nullptr);
}

TEST(ActivityInstead, OnlyWhatAPersonSaysIsKnown) {
  const TriggerReading unknown{
      .error = "it is down",
      .time = absl::FromUnixSeconds(7),
      .front = FrontReadiness{.reason = "NotCarried", .message = "no port"}};
  const Reading::Instead said{.replicas = 3};
  EXPECT_EQ(ActivityInstead(unknown, said).error, "");
  EXPECT_TRUE(ActivityInstead(unknown, said).active);
  EXPECT_FALSE(ActivityInstead(unknown, Reading::Instead{.replicas = 0}).active);
  EXPECT_EQ(ActivityInstead(unknown, Reading::Instead{.replicas = 0}).error, "");
  EXPECT_EQ(ActivityInstead(unknown, said).front->reason, "NotCarried") << "it stays as it is";
  EXPECT_EQ(ActivityInstead(unknown, std::nullopt).error, "it is down");
  const Reading::Instead kept{.replicas = 3, .until = absl::FromUnixSeconds(9)};
  EXPECT_EQ(ActivityInstead(unknown, kept).error, "it is down");
  const TriggerReading pushed{.error = "it is down", .active = true};
  EXPECT_TRUE(ActivityInstead(pushed, Reading::Instead{.replicas = 0}).active);
}

}  // namespace
}  // namespace flyball::scaler
