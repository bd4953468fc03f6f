#include "adapter/live/warm_start.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "promql/parser.h"

namespace flyball::adapter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kBegin = 1'700'000'000'000;

// Has series of samples and gives what is asked for of them; `most` is how many samples fit into an
// answer.
class FakePast : public PastSamples {
 public:
  absl::StatusOr<std::vector<PastSeries>> Past(absl::string_view selector, absl::Time at,
                                               absl::Duration range,
                                               absl::Duration /*timeout*/) override {
    asked.push_back(absl::StrCat(selector, " ", absl::FormatDuration(range)));
    if (!failure.ok()) return failure;
    const int64_t to_ms = absl::ToUnixMillis(at),
                  from_ms = to_ms - absl::ToInt64Milliseconds(range);
    std::vector<PastSeries> found;
    size_t count = 0;
    for (const PastSeries& one : series) {
      PastSeries part = {.labels = one.labels, .points = {}};
      for (const promql::Point& point : one.points) {
        if (point.time_ms > from_ms && point.time_ms <= to_ms) part.points.push_back(point);
      }
      count += part.points.size();
      if (!part.points.empty()) found.push_back(std::move(part));
    }
    if (count > most) return absl::UnavailableError("the answer is too large");
    return found;
  }

  std::vector<PastSeries> series;
  size_t most = 1'000'000;
  absl::Duration takes;  // each answer
  absl::Status failure;
  std::vector<std::string> asked;
};

class WarmStartTest : public testing::Test {
 protected:
  static constexpr absl::Duration kRetention = absl::Minutes(10), kWarmup = absl::Seconds(10);

  // A sample each `every_ms`, up to `end_ms` after the beginning.
  void AddPast(const std::string& pod, int64_t first_ms, int64_t end_ms,
               int64_t every_ms = 15'000) {
    PastSeries one = {.labels = {{"__name__", "x"}, {"pod", pod}}, .points = {}};
    for (int64_t t = first_ms; t <= end_ms; t += every_ms) {
      one.points.push_back({kBegin + t, static_cast<double>(t)});
    }
    past_.series.push_back(std::move(one));
  }
  void Sample(const std::string& pod, int64_t after_ms, double value) {
    const promql::LabelSet labels = {{"__name__", "x"}, {"pod", pod}};
    const absl::Status status =
        store_.Append(labels, {kBegin + after_ms, value}, kBegin + after_ms);
    EXPECT_TRUE(status.ok()) << status;
  }
  void Want(const std::string& selector = "x") {
    warm_.Add({{promql::ParseSeriesSelector(selector)->matchers, kBegin}});
  }
  // Until nothing is to be fetched any more.
  void Fetch() {
    while (warm_.Step().at <= clock_.MonotonicNow()) {
      clock_.Advance(past_.takes);
    }
  }
  void Look() {
    clock_.Advance(kWarmup);
    warm_.Step();
  }
  std::vector<promql::Point> PointsOf(const std::string& pod) {
    std::vector<promql::Point> points;
    for (const auto& series : store_.Select(
             promql::ParseSeriesSelector(absl::StrCat("x{pod=\"", pod, "\"}"))->matchers)) {
      series->Read(kBegin - 3'600'000, kBegin + 3'600'000, points);
    }
    return points;
  }
  bool IsOver(const std::string& pod) {
    const auto points = PointsOf(pod);
    return !points.empty() && promql::IsStale(points.back().value);
  }

  SimulatedClock clock_{absl::FromUnixMillis(kBegin)};
  live::Store store_{
      live::StoreOptions{.retention_ms = absl::ToInt64Milliseconds(kRetention), .max_series = 4}};
  FakePast past_;
  bool warmed_up_ = true;
  std::vector<int64_t> known_;  // since when before the beginning
  WarmStart warm_{{.store = store_,
                   .past = past_,
                   .clock = clock_,
                   .warmed_up = [this] { return warmed_up_; },
                   .known = [this](const WarmStart::Kept&,
                                   int64_t since_ms) { known_.push_back(since_ms - kBegin); }},
                  kRetention,
                  kWarmup};
};

TEST_F(WarmStartTest, SeriesGoOnFromThePast) {
  AddPast("a", -900'000, -5'000);
  Want();
  Sample("a", 200, 1);  // comes before the past does
  Fetch();
  EXPECT_THAT(past_.asked, SizeIs(5)) << "ten minutes in pieces of two";
  EXPECT_EQ(past_.asked[0], R"({__name__="x"} 2m)");
  EXPECT_THAT(known_, IsEmpty()) << "not every target has been seen yet";
  Sample("a", 1'200, 2);
  Look();
  EXPECT_THAT(known_, ElementsAre(-585'000));
  const auto points = PointsOf("a");
  ASSERT_THAT(points, SizeIs(41));
  EXPECT_EQ(points.front().time_ms, kBegin - 585'000);
  EXPECT_EQ(points[38].time_ms, kBegin - 15'000);
  EXPECT_EQ(points[39].value, 1);
  EXPECT_FALSE(IsOver("a"));
}

TEST_F(WarmStartTest, ASeriesThatDoesNotGoOnIsOver) {
  AddPast("a", -300'000, 0);
  AddPast("gone", -300'000, 0, 5'000);
  Want();
  Fetch();
  Sample("a", 1'000, 1);
  EXPECT_FALSE(IsOver("gone"));
  Look();
  EXPECT_TRUE(IsOver("gone"));
  EXPECT_FALSE(IsOver("a"));
  EXPECT_THAT(known_, ElementsAre(-300'000));
}

TEST_F(WarmStartTest, ASeriesThatComesLessOftenThanTheWarmupIsWaitedFor) {
  AddPast("a", -300'000, 0, 60'000);
  AddPast("late", -290'000, 0, 60'000);
  Want();
  Fetch();
  Sample("a", 1'000, 1);
  Sample("new", 1'000, 1);
  Look();
  EXPECT_FALSE(IsOver("late"));
  EXPECT_THAT(known_, IsEmpty());
  Sample("late", 11'000, 1);
  Look();
  EXPECT_FALSE(IsOver("late"));
  EXPECT_THAT(known_, ElementsAre(-300'000));
}

TEST_F(WarmStartTest, NothingIsOverWhileTargetsAreStillDiscovered) {
  AddPast("a", -300'000, 0, 1'000);
  Want();
  Fetch();
  warmed_up_ = false;
  Look();
  EXPECT_FALSE(IsOver("a"));
  Sample("a", 11'000, 1);
  warmed_up_ = true;
  Look();
  EXPECT_THAT(known_, ElementsAre(-300'000));
}

TEST_F(WarmStartTest, ASeriesThatMissesTwoSamplesIsOver) {
  AddPast("a", -300'000, 0);
  AddPast("gone", -290'000, 0, 60'000);
  Want();
  Fetch();
  Sample("a", 1'000, 1);
  for (int seconds = 10; seconds < 70; seconds += 10) {
    Look();
    EXPECT_FALSE(IsOver("gone")) << seconds;
  }
  Look();
  EXPECT_TRUE(IsOver("gone"));
  EXPECT_THAT(PointsOf("gone"), SizeIs(6));
  EXPECT_THAT(known_, ElementsAre(-300'000));
}

TEST_F(WarmStartTest, ANewSeriesHasNoPast) {
  AddPast("a", -300'000, 0);
  Want();
  Fetch();
  Sample("a", 1'000, 1);
  Sample("new", 1'000, 1);
  Look();
  EXPECT_THAT(known_, ElementsAre(-300'000));
  EXPECT_THAT(PointsOf("new"), SizeIs(1));
}

TEST_F(WarmStartTest, OtherLabelsForTheSameTargetsAreNoPast) {
  AddPast("labelled by prometheus", -300'000, 0);
  Want();
  Fetch();
  Sample("labelled here", 1'000, 1);
  Look();
  EXPECT_THAT(known_, IsEmpty());
  EXPECT_TRUE(IsOver("labelled by prometheus"));
}

TEST_F(WarmStartTest, WhatEndedLongBeforeSaysNothingOfLabels) {
  AddPast("a", -300'000, 0);
  AddPast("ended", -500'000, -200'000);
  Want();
  Fetch();
  Sample("a", 1'000, 1);
  Sample("new", 1'000, 1);
  Look();
  EXPECT_THAT(known_, ElementsAre(-500'000));
  EXPECT_TRUE(IsOver("ended"));
}

TEST_F(WarmStartTest, APrometheusThatIsBehindIsNoPast) {
  AddPast("a", -300'000, -90'000);
  Want();
  Fetch();
  Sample("a", 1'000, 1);
  Look();
  EXPECT_THAT(known_, IsEmpty());
}

TEST_F(WarmStartTest, AnswersThatAreTooLargeAreAskedForInSmallerPieces) {
  AddPast("a", -599'000, 0, 1'000);
  past_.most = 70;
  Want();
  Fetch();
  EXPECT_THAT(past_.asked, SizeIs(11)) << "two minutes are too many, one is not";
  Sample("a", 1'000, 1);
  Look();
  EXPECT_THAT(known_, ElementsAre(-599'000));
  EXPECT_THAT(PointsOf("a"), SizeIs(601));
}

TEST_F(WarmStartTest, APrometheusThatIsAwayIsGivenUp) {
  past_.failure = absl::UnavailableError("connection refused");
  Want();
  Fetch();
  EXPECT_THAT(past_.asked, SizeIs(4)) << "two minutes, one, a half, a quarter";
  Look();
  EXPECT_THAT(known_, IsEmpty());
}

TEST_F(WarmStartTest, WithoutRoomForAllSeriesNothingIsKnown) {
  for (const char* const pod : {"a", "b", "c", "d", "e"}) AddPast(pod, -300'000, 0, 5'000);
  Want();
  Fetch();
  EXPECT_THAT(past_.asked, SizeIs(1));
  Sample("a", 1'000, 1);
  Look();
  EXPECT_THAT(known_, IsEmpty());
  EXPECT_TRUE(IsOver("b"));
}

TEST_F(WarmStartTest, WhatMatchesAnySeriesIsNotAskedFor) {
  warm_.Add({{}, {promql::ParseSeriesSelector(R"({pod!="a",__name__!=""})")->matchers, kBegin}});
  Fetch();
  EXPECT_THAT(past_.asked, SizeIs(5));
}

// Else series of before would count beside those that they are, as soon as queries are answered.
TEST_F(WarmStartTest, ASlowPrometheusIsNotWaitedForBeyondTheWarmup) {
  AddPast("labelled by prometheus", -300'000, 0);
  past_.takes = absl::Seconds(4);
  Want();
  Sample("labelled here", 1'000, 1);
  Fetch();
  EXPECT_THAT(past_.asked, SizeIs(3));
  EXPECT_EQ(clock_.MonotonicNow(), absl::Seconds(12));
  EXPECT_TRUE(IsOver("labelled by prometheus"));
  EXPECT_THAT(known_, IsEmpty());
}

TEST_F(WarmStartTest, TheNewestPiecesOfAllSelectorsComeFirst) {
  AddPast("a", -300'000, 0);
  past_.takes = absl::Seconds(4);
  Want("x");
  Want("y");
  Fetch();
  EXPECT_THAT(past_.asked,
              ElementsAre(R"({__name__="x"} 2m)", R"({__name__="y"} 2m)", R"({__name__="x"} 2m)"));
}

TEST_F(WarmStartTest, AClockThatWasSetMeanwhileLeavesThePastUnknown) {
  AddPast("a", -300'000, 0);
  Want();
  Fetch();
  Sample("a", 1'000, 1);
  clock_.JumpWall(absl::FromUnixMillis(kBegin - 60'000));
  Look();
  EXPECT_THAT(known_, IsEmpty());
  EXPECT_FALSE(IsOver("a"));
}

}  // namespace
}  // namespace flyball::adapter
