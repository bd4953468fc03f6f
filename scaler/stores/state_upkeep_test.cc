#include "scaler/stores/state_upkeep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scaler/math/history.h"
#include "scaler/math/hpa/metrics_path.h"

namespace flyball::scaler {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1767225600);

std::vector<Recommendation> Kept(const std::vector<Recommendation>& before,
                                 std::vector<Recommendation> now) {
  ScalerState state;
  state.recommendations = std::move(now);
  KeepRecommendations(before, kNow, kLongestWindow, state);
  return state.recommendations;
}

TEST(KeepRecommendations, LeavesOutWhatNoWindowCanNotice) {
  EXPECT_EQ(Kept({}, {{3, kNow - absl::Seconds(9)},
                      {5, kNow - absl::Seconds(5)},
                      {3, kNow - absl::Seconds(2)},
                      {4, kNow}}),
            (std::vector<Recommendation>{
                {5, kNow - absl::Seconds(5)}, {3, kNow - absl::Seconds(2)}, {4, kNow}}));
}

TEST(KeepRecommendations, PutsBackWhatALongerWindowWouldNotice) {
  // With a window of 0 the math writes over the 9.
  const std::vector<Recommendation> before = {{9, kNow - absl::Minutes(59)},
                                              {2, kNow - absl::Seconds(2)}};
  EXPECT_EQ(Kept(before, {{2, kNow}, {2, kNow - absl::Seconds(2)}}),
            (std::vector<Recommendation>{{9, kNow - absl::Minutes(59)}, {2, kNow}}));
  EXPECT_EQ(Kept({{9, kNow - absl::Minutes(61)}}, {{2, kNow}}),
            (std::vector<Recommendation>{{2, kNow}}));
}

// What falls or rises for an hour of short cadences would take all the room of a record.
TEST(KeepRecommendations, OfManyThatFallSomeHoldBackForLonger) {
  for (const int step : {-1, 1}) {
    std::vector<Recommendation> all;
    constexpr int kAll = 17'000;
    for (int i = kAll; i > 0; --i) {
      all.push_back({100'000 - step * i, kNow - i * absl::Milliseconds(200)});
    }
    const std::vector<Recommendation> kept = Kept(all, {{100'000, kNow}});
    all.push_back({100'000, kNow});
    EXPECT_LE(kept.size(), kMostRecommendations);
    EXPECT_GT(kept.size(), kMostRecommendations / 4);
    EXPECT_EQ(kept.back(), (Recommendation{100'000, kNow}));
    const auto highest = [](const std::vector<Recommendation>& of, absl::Duration window) {
      int32_t most = 0;
      for (const Recommendation& one : of) {
        if (one.time >= kNow - window) most = std::max(most, one.replicas);
      }
      return most;
    };
    for (absl::Duration window; window <= absl::Hours(1); window += absl::Seconds(7)) {
      EXPECT_GE(highest(kept, window), highest(all, window)) << window;
      EXPECT_LE(highest(kept, window), highest(all, window + absl::Seconds(30))) << window;
    }
  }
}

struct Course {
  const char* name;
  int32_t (*at)(int step, int steps);
};
const Course kCourses[] = {
    {"rises", [](int step, int) { return 1 + step; }},
    {"falls", [](int step, int steps) { return 1 + steps - step; }},
    {"rises, then falls",
     [](int step, int steps) { return 1 + std::min(2 * step, 2 * (steps - step)); }},
    // Each one is above or below all later ones, so that none may be left out.
    {"narrows", [](int step, int steps) { return 100'000 + (step % 2 * 2 - 1) * (steps - step); }},
};

Behavior BothWindows(int32_t seconds) {
  Behavior behavior;
  behavior.scale_up.stabilization_window_seconds = seconds;
  behavior.scale_down.stabilization_window_seconds = seconds;
  return behavior;
}

// What `kept` holds back is what `all` holds back, and the like for less than a period more.
void ExpectHeldAlike(const StabilizeInput& input, const ScalerState& all, const ScalerState& kept) {
  const auto more = static_cast<int32_t>(kThinningPeriod / absl::Seconds(1));
  const auto stabilize = [&input](ScalerState state, int32_t seconds) {
    return StabilizeBothWays(input, BothWindows(seconds), absl::ZeroDuration(), state);
  };
  for (const int32_t window : {0, 30, 60, 300, 600, 1800, 3600}) {
    const Stabilization least = stabilize(all, window), most = stabilize(all, window + more);
    const Stabilization held = stabilize(kept, window);
    EXPECT_LE(held.up_lowest, least.up_lowest) << window;
    EXPECT_GE(held.up_lowest, most.up_lowest) << window;
    EXPECT_GE(held.down_highest, least.down_highest) << window;
    EXPECT_LE(held.down_highest, most.down_highest) << window;
  }
}

// As the loop does it: after each decision, so that what was merged takes part in later mergers.
TEST(KeepRecommendations, OfManyThatComeOneByOneAWindowHoldsOnlyALittleLonger) {
  for (const absl::Duration cadence : {absl::Milliseconds(200), absl::Seconds(1)}) {
    for (const Course& course : kCourses) {
      SCOPED_TRACE(absl::StrCat(course.name, " each ", absl::FormatDuration(cadence)));
      ScalerState all, kept;
      const auto steps = static_cast<int>(absl::Minutes(70) / cadence);
      for (int i = 0; i <= steps; ++i) {
        const StabilizeInput input{
            .recommended = course.at(i, steps), .current = 1, .now = kNow + i * cadence};
        if (i % 997 == 0) ExpectHeldAlike(input, all, kept);
        const std::vector<Recommendation> before = kept.recommendations;
        StabilizeBothWays(input, BothWindows(300), absl::ZeroDuration(), kept);
        KeepRecommendations(before, input.now, kLongestWindow, kept);
        ASSERT_LE(kept.recommendations.size(), kMostRecommendations);
        all.recommendations.push_back({.replicas = input.recommended, .time = input.now});
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

// Recent ones are as exact as there is room for.
TEST(KeepRecommendations, OfManyThatRiseTheLastFiftySecondsStayAsTheyAre) {
  ScalerState kept;
  std::vector<Recommendation> all;
  for (int i = 0; i <= 20'000; ++i) {
    all.push_back({1 + i, kNow + i * absl::Milliseconds(200)});
    const std::vector<Recommendation> before = kept.recommendations;
    kept.recommendations.push_back(all.back());
    KeepRecommendations(before, all.back().time, kLongestWindow, kept);
  }
  ASSERT_GT(kept.recommendations.size(), 250u);
  EXPECT_TRUE(std::equal(all.end() - 250, all.end(), kept.recommendations.end() - 250));
}

// Nothing is left out here because of its age, so that what is remembered may span days.
TEST(CompactRecommendations, HowFarApartTheyMayBeNoMoreThanTheMostStay) {
  std::mt19937 random(5);
  for (const int64_t apart_ms : {1, 500, 60'000, 100'000'000}) {
    std::vector<Recommendation> kept;
    absl::Time now = kNow;
    constexpr int kSteps = 3000;
    for (int i = 0; i < kSteps; ++i) {
      now += absl::Milliseconds(1 + random() % static_cast<uint64_t>(2 * apart_ms));
      kept.push_back({kCourses[3].at(i, kSteps), now});
      const std::vector<Recommendation> all = kept;
      CompactRecommendations(all, kept);
      ASSERT_LE(kept.size(), kMostRecommendations);
      ASSERT_EQ(kept.back(), all.back());
    }
    // The two that are furthest from the last one.
    const auto [lowest, highest] =
        std::minmax_element(kept.begin(), kept.end(),
                            [](const auto& a, const auto& b) { return a.replicas < b.replicas; });
    EXPECT_EQ(lowest->replicas, 100'000 - kSteps);
    EXPECT_EQ(highest->replicas, 100'000 + kSteps - 1);
  }
  std::vector<Recommendation> kept, all;
  for (int i = 0; i < 2000; ++i) {
    all.push_back(
        {kCourses[3].at(i, 2000), i < 1000 ? absl::InfinitePast() : absl::InfiniteFuture()});
  }
  CompactRecommendations(all, kept);
  EXPECT_LE(kept.size(), kMostRecommendations);
}

TEST(KeepRecommendations, NeverLeavesNothing) {
  EXPECT_EQ(Kept({}, {{9, kNow - absl::Hours(2)}}),
            (std::vector<Recommendation>{{9, kNow - absl::Hours(2)}}));
  EXPECT_TRUE(Kept({}, {}).empty());
}

TEST(KeepRecommendations, ChangesNoStabilisation) {
  std::mt19937 random(3);
  for (int run = 0; run < 200; ++run) {
    ScalerState whole, kept;
    absl::Time now = kNow;
    for (int tick = 0; tick < 60; ++tick) {
      now += absl::Seconds(1 + random() % 30);
      const StabilizeInput input{.recommended = static_cast<int32_t>(random() % 6),
                                 .current = static_cast<int32_t>(random() % 6),
                                 .now = now};
      const std::vector<Recommendation> before = kept.recommendations;
      const Stabilization a = StabilizeDown(input, absl::Minutes(5), whole);
      const Stabilization b = StabilizeDown(input, absl::Minutes(5), kept);
      KeepRecommendations(before, now, kLongestWindow, kept);
      ASSERT_EQ(a.after, b.after) << run << " " << tick;
      ASSERT_LE(kept.recommendations.size(), 7u);  // six counts, one of them twice at most
    }
  }
}

TEST(RenewRecommendation, MovesTheOneOfThatCount) {
  ScalerState state;
  state.recommendations = {{3, kNow - absl::Seconds(9)}, {5, kNow}};
  EXPECT_TRUE(RenewRecommendation(3, kNow, state));
  EXPECT_EQ(state.recommendations[0].time, kNow);
  EXPECT_FALSE(RenewRecommendation(4, kNow, state));
}

TEST(ShiftTimes, MovesAllByAsMuch) {
  ScalerState state;
  state.recommendations = {{3, kNow}};
  state.scale_ups = {{.change = 2, .time = kNow - absl::Seconds(1)}};
  state.growing_since = kNow - absl::Seconds(2);
  ShiftTimes(absl::Hours(-1), state);
  EXPECT_EQ(state.growing_since, kNow - absl::Hours(1) - absl::Seconds(2));
  EXPECT_EQ(state.recommendations[0].time, kNow - absl::Hours(1));
  EXPECT_EQ(state.scale_ups[0].time, kNow - absl::Hours(1) - absl::Seconds(1));
}

}  // namespace
}  // namespace flyball::scaler
