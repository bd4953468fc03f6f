#include "adapter/live/receive/delta_totals.h"

#include <gtest/gtest.h>

namespace flyball::live {
namespace {

using formats::OtlpPoint;

constexpr int64_t kRetention = 1000;

OtlpPoint Sum(int64_t start_ns, int64_t time_ns, double value) {
  OtlpPoint point;
  point.start_ns = start_ns;
  point.time_ns = time_ns;
  point.value = value;
  return point;
}

absl::Status Stored() { return absl::OkStatus(); }

TEST(DeltaTotals, DifferencesAreAddedUpOverGaps) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(10, 20, 3);
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  EXPECT_EQ(point.value, 3);
  point = Sum(20, 30, 4);
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  EXPECT_EQ(point.value, 7);
  point = Sum(50, 60, 1);
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  EXPECT_EQ(point.value, 8);
  point = Sum(0, 70, 1);  // nobody says from when
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  EXPECT_EQ(point.value, 9);
  point = Sum(0, 10, 5);
  ASSERT_TRUE(totals.Add("b", point, 0, Stored).ok());
  EXPECT_EQ(point.value, 5);
}

TEST(DeltaTotals, WhatOverlapsOrIsOlderOrFallsIsRefused) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(10, 20, 3);
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  for (OtlpPoint bad : {Sum(19, 30, 1), Sum(10, 20, 3), Sum(5, 9, 1), Sum(20, 30, -1),
                        Sum(20, 30, std::nan("")), Sum(20, 30, HUGE_VAL)}) {
    EXPECT_EQ(totals.Add("a", bad, 0, Stored).code(), absl::StatusCode::kInvalidArgument);
  }
  point = Sum(20, 30, 1);
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  EXPECT_EQ(point.value, 4);
}

TEST(DeltaTotals, WhatCouldNotBeStoredDoesNotCount) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(10, 20, 3);
  EXPECT_FALSE(totals.Add("a", point, 0, [] { return absl::ResourceExhaustedError(""); }).ok());
  point = Sum(10, 20, 3);
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  EXPECT_EQ(point.value, 3);
}

TEST(DeltaTotals, HistogramsAreAddedBoundByBound) {
  DeltaTotals totals(kRetention);
  OtlpPoint point;
  point.time_ns = 1;
  point.count = 6;
  point.sum = 10;
  point.buckets = {{1, 2}, {5, 3}};
  ASSERT_TRUE(totals.Add("h", point, 0, Stored).ok());
  point.time_ns = 2;
  point.count = 7;
  point.sum = 20;
  point.buckets = {{0, 1}, {5, 4}, {9, 2}};
  ASSERT_TRUE(totals.Add("h", point, 0, Stored).ok());
  EXPECT_EQ(point.count, 13);
  EXPECT_EQ(*point.sum, 30);
  ASSERT_EQ(point.buckets.size(), 4u);
  const double uppers[] = {0, 1, 5, 9}, counts[] = {1, 2, 7, 2};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(point.buckets[i].upper, uppers[i]);
    EXPECT_EQ(point.buckets[i].count, counts[i]);
  }
}

TEST(DeltaTotals, ASilentSeriesBeginsAnew) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(0, 20, 3);
  ASSERT_TRUE(totals.Add("a", point, 0, Stored).ok());
  point = Sum(0, 30, 1);
  ASSERT_TRUE(totals.Add("a", point, kRetention, Stored).ok());
  EXPECT_EQ(point.value, 4);
  point = Sum(0, 10, 1);
  ASSERT_TRUE(totals.Add("a", point, 2 * kRetention + 1, Stored).ok());
  EXPECT_EQ(point.value, 1);
}

TEST(DeltaTotals, NewSeriesAreRefusedWhereThereIsNoRoom) {
  DeltaTotals totals(kRetention, 16 * 1000);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    OtlpPoint point = Sum(0, 1, 1);
    const absl::Status status = totals.Add(std::to_string(i), point, 0, Stored);
    EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status));
    taken += status.ok();
  }
  EXPECT_EQ(taken, 16 * 3);  // about 256 bytes each
  OtlpPoint point = Sum(0, 2, 1);
  EXPECT_TRUE(totals.Add("0", point, 0, Stored).ok());  // those that are there go on
}

}  // namespace
}  // namespace flyball::live
