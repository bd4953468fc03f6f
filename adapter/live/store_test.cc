#include "adapter/live/store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace flyball::adapter {
namespace {

std::vector<promql::Point> PointsOf(const promql::Series& series) {
  std::vector<promql::Point> points;
  series.Read(0, 1'000'000, points);
  return points;
}

std::vector<promql::Matcher> Named(const std::string& name) {
  return {*promql::Matcher::Make("__name__", promql::Matcher::Op::kEqual, name)};
}

TEST(Append, FollowsPrometheusRules) {
  SampleStore store;
  const LabelSet x = {{"__name__", "x"}};
  EXPECT_TRUE(store.Append(x, 1000, 1).ok());
  EXPECT_TRUE(store.Append(x, 1000, 1).ok()) << "the same again is fine";
  EXPECT_EQ(store.Append(x, 1000, 2).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(store.Append(x, 999, 1).code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(store.Append(x, 1001, std::numeric_limits<double>::quiet_NaN()).ok());
  EXPECT_TRUE(store.Append(x, 1001, -std::numeric_limits<double>::quiet_NaN()).ok())
      << "all NaNs but the marker are one";
  EXPECT_EQ(store.Append(x, 1001, promql::StaleMarker()).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(PointsOf(*store.Select(Named("x")).at(0)).size(), 2u);
}

TEST(Append, NormalizesLabels) {
  SampleStore store;
  EXPECT_TRUE(store.Append({{"b", "2"}, {"gone", ""}, {"__name__", "x"}}, 1, 1).ok());
  EXPECT_TRUE(store.Append({{"__name__", "x"}, {"b", "2"}}, 2, 1).ok());
  EXPECT_EQ(store.series_count(), 1u);
  EXPECT_EQ(store.Append({{"b", "2"}, {"b", "3"}}, 3, 1).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store.Append({{"b", ""}}, 3, 1).code(), absl::StatusCode::kInvalidArgument);
}

TEST(Append, KeepsItsLimits) {
  SampleStore store({.max_series = 2, .max_points_per_series = 3, .retention_ms = 100});
  for (int64_t time_ms : {0, 1, 2, 3}) EXPECT_TRUE(store.Append({{"a", "1"}}, time_ms, 1).ok());
  const auto all = store.Select({*promql::Matcher::Make("a", promql::Matcher::Op::kNotEqual, "")});
  EXPECT_EQ(PointsOf(*all.at(0)).front().time_ms, 1) << "three points at most";
  EXPECT_TRUE(store.Append({{"a", "1"}}, 102, 1).ok());
  EXPECT_EQ(PointsOf(*all.at(0)).front().time_ms, 2) << "100 ms back, the end included";
  EXPECT_TRUE(store.Append({{"a", "2"}}, 1, 1).ok());
  EXPECT_EQ(store.Append({{"a", "3"}}, 1, 1).code(), absl::StatusCode::kResourceExhausted);
}

// Pods come and go: what they leave behind makes room once it is outside of the retention.
TEST(Append, SeriesThatEndedMakeRoomForNewOnes) {
  SampleStore store({.max_series = 10, .retention_ms = 1000});
  const auto pod = [](int i) {
    return LabelSet{{"__name__", i % 2 == 0 ? "even" : "odd"}, {"pod", std::to_string(i)}};
  };
  int64_t now = 0;
  for (int i = 0; i < 1000; ++i, now += 200) {
    ASSERT_TRUE(store.Append(pod(i), now, i).ok()) << i;
    ASSERT_TRUE(store.Append({{"__name__", "stays"}}, now, i).ok()) << i;
  }
  // The last six have a sample within 1000 ms of the newest.
  EXPECT_EQ(store.series_count(), 7u);
  EXPECT_EQ(store.Select(Named("even")).size() + store.Select(Named("odd")).size(), 6u);
  EXPECT_EQ(store.Select(Named("stays")).size(), 1u);
  // A series that was dropped may come again; its old samples are gone.
  ASSERT_TRUE(store.Append(pod(0), now, 7).ok());
  EXPECT_EQ(
      PointsOf(
          *store.Select({*promql::Matcher::Make("pod", promql::Matcher::Op::kEqual, "0")}).at(0))
          .size(),
      1u);
}

TEST(Append, SeriesWithinTheRetentionAreNeverDropped) {
  SampleStore store({.max_series = 3, .retention_ms = 1000});
  for (const char* a : {"1", "2", "3"}) ASSERT_TRUE(store.Append({{"a", a}}, 500, 1).ok());
  EXPECT_EQ(store.Append({{"a", "4"}}, 1500, 1).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store.series_count(), 3u);
  EXPECT_TRUE(store.Append({{"a", "4"}}, 1501, 1).ok());
  EXPECT_EQ(store.series_count(), 2u) << "two of them left, one came";
}

TEST(Select, IsInLabelOrderWithOrWithoutAName) {
  SampleStore store;
  for (const char* b : {"3", "1", "2"}) {
    ASSERT_TRUE(store.Append({{"__name__", "x"}, {"b", b}}, 1, 1).ok());
  }
  ASSERT_TRUE(store.Append({{"__name__", "y"}, {"b", "1"}}, 1, 1).ok());
  const auto named = store.Select(Named("x"));
  ASSERT_EQ(named.size(), 3u);
  EXPECT_LT(named[0]->labels(), named[1]->labels());
  EXPECT_LT(named[1]->labels(), named[2]->labels());
  const auto any = store.Select({*promql::Matcher::Make("b", promql::Matcher::Op::kRegex, "1|2")});
  ASSERT_EQ(any.size(), 3u);
  EXPECT_LT(any[0]->labels(), any[1]->labels());
}

TEST(StaleMarker, IsToldByItsBits) {
  EXPECT_TRUE(std::isnan(promql::StaleMarker()));
  EXPECT_TRUE(promql::IsStale(promql::StaleMarker()));
  EXPECT_FALSE(promql::IsStale(std::numeric_limits<double>::quiet_NaN()));
}

TEST(Matches, RegexIsAnchoredAndTakesLineBreaks) {
  const auto matcher = [](absl::string_view pattern) {
    return *promql::Matcher::Make("a", promql::Matcher::Op::kRegex, pattern);
  };
  EXPECT_FALSE(matcher("b").Matches("abc"));
  EXPECT_TRUE(matcher("a|b.*").Matches("bc"));
  EXPECT_TRUE(matcher("b.*").Matches("b\nc"));
  EXPECT_TRUE(matcher("").Matches(""));
}

}  // namespace
}  // namespace flyball::adapter
