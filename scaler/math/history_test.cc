#include "scaler/math/history.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::scaler {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1767225600);

TEST(DropReplaceableAdditions, LeavesThoseThatEachLaterOneWouldHaveLeft) {
  Behavior behavior;
  behavior.scale_up.policies = {{.type = PolicyType::kPods, .value = 4, .period_seconds = 15},
                                {.type = PolicyType::kPercent, .value = 100, .period_seconds = 60}};
  ScalerState state;
  state.scale_ups = {{.change = 1, .time = kNow - absl::Seconds(61)},
                     {.change = 2, .time = kNow - absl::Seconds(60)}};
  state.scale_downs = {{.change = 3, .time = kNow - absl::Seconds(61)}};
  ScalerState later = state;
  RecordScaleEvent(behavior, 1, 5, kNow, later);  // takes the place of the first
  DropReplaceableAdditions(behavior, absl::InfinitePast(), kNow, state);
  ASSERT_EQ(state.scale_ups.size(), 1u);
  EXPECT_EQ(state.scale_ups[0].change, 2);
  EXPECT_EQ(later.scale_ups[0].change, 4);
  EXPECT_EQ(later.scale_ups[1].change, 2);
  EXPECT_EQ(state.scale_downs.size(), 1u);  // a removal holds back: it stays
}

TEST(DropReplaceableAdditions, LeavesThoseThatAreOutdatedAtBothTimesOrAtNeither) {
  Behavior behavior;
  behavior.scale_up.policies = {{.type = PolicyType::kPods, .value = 4, .period_seconds = 15}};
  ScalerState state;
  for (const int age : {16, 15, 14, 13}) {
    state.scale_ups.push_back({.change = age, .time = kNow - absl::Seconds(age)});
  }
  DropReplaceableAdditions(behavior, kNow, kNow, state);
  EXPECT_EQ(state.scale_ups.size(), 4u);
  DropReplaceableAdditions(behavior, kNow, kNow + absl::Seconds(2), state);
  ASSERT_EQ(state.scale_ups.size(), 2u);
  EXPECT_EQ(state.scale_ups[0].change, 16);
  EXPECT_EQ(state.scale_ups[1].change, 13);
}

}  // namespace
}  // namespace flyball::scaler
