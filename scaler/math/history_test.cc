#include "scaler/math/history.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::scaler {
namespace {

const absl::Time kNow = absl::FromUnixSeconds(1767225600);

TEST(DropOutdatedAdditions, LeavesThoseThatEachLaterOneWouldHaveLeft) {
  Behavior behavior;
  behavior.scale_up.policies = {{.type = PolicyType::kPods, .value = 4, .period_seconds = 15},
                                {.type = PolicyType::kPercent, .value = 100, .period_seconds = 60}};
  ScalerState state;
  state.scale_ups = {{.change = 1, .time = kNow - absl::Seconds(61)},
                     {.change = 2, .time = kNow - absl::Seconds(60)}};
  state.scale_downs = {{.change = 3, .time = kNow - absl::Seconds(61)}};
  ScalerState later = state;
  RecordScaleEvent(behavior, 1, 5, kNow, later);  // takes the place of the first
  DropOutdatedAdditions(behavior, kNow, state);
  ASSERT_EQ(state.scale_ups.size(), 1u);
  EXPECT_EQ(state.scale_ups[0].change, 2);
  EXPECT_EQ(later.scale_ups[0].change, 4);
  EXPECT_EQ(later.scale_ups[1].change, 2);
  EXPECT_EQ(state.scale_downs.size(), 1u);  // a removal holds back: it stays
}

// The first one, of 16 s ago, was outdated all the while, the next two became so.
TEST(DropReplaceableAdditions, LeavesNoneThatWasOutdatedIfItDependsOnTheTimeWhichWasReplaced) {
  Behavior behavior;
  behavior.scale_up.policies = {{.type = PolicyType::kPods, .value = 4, .period_seconds = 15}};
  ScalerState state;
  for (const int age : {16, 15, 14, 13}) {
    state.scale_ups.push_back({.change = age, .time = kNow - absl::Seconds(age)});
  }
  DropReplaceableAdditions(behavior, kNow, kNow, state);
  EXPECT_EQ(state.scale_ups.size(), 4u);
  DropReplaceableAdditions(behavior, kNow, kNow + absl::Seconds(2), state);
  ASSERT_EQ(state.scale_ups.size(), 1u);
  EXPECT_EQ(state.scale_ups[0].change, 13);
}

// It was marked under a shorter period, and counts again within the one of now.
TEST(DropReplaceableAdditions, LeavesAMarkedOneWithinThePeriodIfTheTimeDoesNotMatter) {
  Behavior behavior;
  behavior.scale_up.policies = {{.type = PolicyType::kPods, .value = 6, .period_seconds = 600}};
  ScalerState state;
  state.scale_ups = {{.change = 2, .time = kNow - absl::Seconds(60), .outdated = true},
                     {.change = 3, .time = kNow - absl::Seconds(50), .outdated = true},
                     {.change = 4, .time = kNow - absl::Seconds(15)}};
  for (const int took : {0, 1}) {
    DropReplaceableAdditions(behavior, kNow, kNow + absl::Seconds(took), state);
    EXPECT_EQ(ChangeWithin(state.scale_ups, 600, kNow), 9) << took;
  }
  RecordScaleEvent(behavior, 1, 6, kNow, state);  // it replaces the last of the two
  EXPECT_EQ(ChangeWithin(state.scale_ups, 600, kNow + absl::Seconds(1)), 11);
}

}  // namespace
}  // namespace flyball::scaler
