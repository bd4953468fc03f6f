#include "scaler/stores/state_upkeep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

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
  ShiftTimes(absl::Hours(-1), state);
  EXPECT_EQ(state.recommendations[0].time, kNow - absl::Hours(1));
  EXPECT_EQ(state.scale_ups[0].time, kNow - absl::Hours(1) - absl::Seconds(1));
}

}  // namespace
}  // namespace flyball::scaler
