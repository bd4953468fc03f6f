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

DeltaTotals::Stored StoreAll() { return {absl::OkStatus(), true}; }

// As the only point of a request.
absl::Status Add(DeltaTotals& totals, const std::string& key, OtlpPoint& point, int64_t now_ms,
                 absl::FunctionRef<DeltaTotals::Stored()> store = StoreAll) {
  DeltaTotals::Request request = {.now_ms = now_ms, .bounds_left = 1000};
  return totals.Add(key, point, request, store);
}

TEST(DeltaTotals, DifferencesAreAddedUpOverGaps) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(10, 20, 3);
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  EXPECT_EQ(point.value, 3);
  point = Sum(20, 30, 4);
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  EXPECT_EQ(point.value, 7);
  point = Sum(50, 60, 1);
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  EXPECT_EQ(point.value, 8);
  point = Sum(0, 70, 1);  // nobody says from when
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  EXPECT_EQ(point.value, 9);
  point = Sum(0, 10, 5);
  ASSERT_TRUE(Add(totals, "b", point, 0).ok());
  EXPECT_EQ(point.value, 5);
}

TEST(DeltaTotals, WhatOverlapsOrIsOlderOrFallsIsRefused) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(10, 20, 3);
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  for (OtlpPoint bad : {Sum(19, 30, 1), Sum(10, 20, 3), Sum(5, 9, 1), Sum(20, 30, -1),
                        Sum(20, 30, std::nan("")), Sum(20, 30, HUGE_VAL)}) {
    EXPECT_EQ(Add(totals, "a", bad, 0).code(), absl::StatusCode::kInvalidArgument);
  }
  point = Sum(20, 30, 1);
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  EXPECT_EQ(point.value, 4);
}

TEST(DeltaTotals, WhatCouldNotBeStoredDoesNotCount) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(10, 20, 3);
  const auto store_none = [] {
    return DeltaTotals::Stored{absl::ResourceExhaustedError(""), false};
  };
  EXPECT_FALSE(Add(totals, "a", point, 0, store_none).ok());
  point = Sum(10, 20, 3);
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  EXPECT_EQ(point.value, 3);
}

TEST(DeltaTotals, HistogramsAreAddedBoundByBound) {
  DeltaTotals totals(kRetention);
  OtlpPoint point;
  point.time_ns = 1;
  point.count = 6;
  point.sum = 10;
  point.buckets = {{1, 2}, {5, 3}};
  ASSERT_TRUE(Add(totals, "h", point, 0).ok());
  point.time_ns = 2;
  point.count = 7;
  point.sum = 20;
  point.buckets = {{0, 1}, {5, 4}, {9, 2}};
  ASSERT_TRUE(Add(totals, "h", point, 0).ok());
  EXPECT_EQ(point.count, 13);
  EXPECT_EQ(*point.sum, 30);
  ASSERT_EQ(point.buckets.size(), 4u);
  const double uppers[] = {0, 1, 5, 9}, counts[] = {1, 2, 7, 2};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(point.buckets[i].upper, uppers[i]);
    EXPECT_EQ(point.buckets[i].count, counts[i]);
  }
}

TEST(DeltaTotals, ARequestMayUseSoManyBoundsOfItsSeries) {
  DeltaTotals totals(kRetention);
  const auto histogram = [](int64_t time_ns, int bounds) {
    OtlpPoint point;
    point.time_ns = time_ns;
    for (int i = 0; i < bounds; ++i) point.buckets.push_back({static_cast<double>(i), 1});
    return point;
  };
  DeltaTotals::Request request = {.now_ms = 0, .bounds_left = 200};
  const auto add = [&](OtlpPoint point) { return totals.Add("h", point, request, StoreAll); };
  for (int64_t ns = 1; ns <= 100; ++ns) EXPECT_TRUE(add(histogram(ns, 100)).ok()) << ns;
  EXPECT_EQ(request.bounds_left, 200u) << "none for points that have all themselves";
  EXPECT_TRUE(add(histogram(101, 1)).ok());
  EXPECT_TRUE(add(histogram(102, 10)).ok());
  EXPECT_EQ(request.bounds_left, 11u);
  EXPECT_EQ(add(histogram(103, 1)).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(add(histogram(50, 95)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(add(histogram(104, 89)).ok());
  request.bounds_left = 200;
  OtlpPoint point = histogram(105, 1);
  EXPECT_TRUE(totals.Add("h", point, request, StoreAll).ok()) << "in the next request";
  EXPECT_EQ(point.buckets.size(), 100u);
  EXPECT_EQ(point.buckets[0].count, 104);
}

TEST(DeltaTotals, ASilentSeriesBeginsAnew) {
  DeltaTotals totals(kRetention);
  OtlpPoint point = Sum(0, 20, 3);
  ASSERT_TRUE(Add(totals, "a", point, 0).ok());
  point = Sum(0, 30, 1);
  ASSERT_TRUE(Add(totals, "a", point, kRetention).ok());
  EXPECT_EQ(point.value, 4);
  point = Sum(0, 10, 1);
  ASSERT_TRUE(Add(totals, "a", point, 2 * kRetention + 1).ok());
  EXPECT_EQ(point.value, 1);
}

TEST(DeltaTotals, NewSeriesAreRefusedWhereThereIsNoRoom) {
  DeltaTotals totals(kRetention, 16 * 1000);
  int taken = 0;
  for (int i = 0; i < 1000; ++i) {
    OtlpPoint point = Sum(0, 1, 1);
    const absl::Status status = Add(totals, std::to_string(i), point, 0);
    EXPECT_TRUE(status.ok() || absl::IsResourceExhausted(status));
    taken += status.ok();
  }
  EXPECT_EQ(taken, 16 * 3);  // about 256 bytes each
  OtlpPoint point = Sum(0, 2, 1);
  EXPECT_TRUE(Add(totals, "0", point, 0).ok());  // those that are there go on
}

}  // namespace
}  // namespace flyball::live
