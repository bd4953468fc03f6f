#include "scaler/loop/state_upkeep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "scaler/math/history.h"
#include "scaler/math/stabilize.h"

namespace flyball::scaler {
namespace {

constexpr absl::Time kNow = absl::FromUnixSeconds(1767225600);

TEST(DropOutlived, KeepsTheNewestOfEachCount) {
  ScalerState state;
  state.recommendations = {{3, kNow - absl::Seconds(9)},
                           {5, kNow - absl::Seconds(5)},
                           {3, kNow - absl::Seconds(2)},
                           {3, kNow}};
  DropOutlived(kNow, state);
  EXPECT_EQ(state.recommendations,
            (std::vector<Recommendation>{{5, kNow - absl::Seconds(5)}, {3, kNow}}));
}

TEST(DropOutlived, ChangesNoStabilisation) {
  std::mt19937 random(3);
  for (int run = 0; run < 200; ++run) {
    ScalerState whole, kept;
    absl::Time now = kNow;
    for (int tick = 0; tick < 60; ++tick) {
      now += absl::Seconds(1 + random() % 30);
      const StabilizeInput input{.recommended = static_cast<int32_t>(random() % 6),
                                 .current = static_cast<int32_t>(random() % 6),
                                 .now = now};
      const Stabilization a = StabilizeDown(input, absl::Minutes(5), whole);
      const Stabilization b = StabilizeDown(input, absl::Minutes(5), kept);
      DropOutlived(now, kept);
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
