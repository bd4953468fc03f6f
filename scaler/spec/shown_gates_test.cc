#include "scaler/spec/shown_gates.h"

#include <gtest/gtest.h>

namespace flyball::scaler {
namespace {

bool IsOn(const DialectChoice& choice, int minor) {
  const ServerVersion server{.minor = minor, .emulated_minor = {}};
  return DialectOf(WithScaleToZeroShown(choice, server), server).gates.scale_to_zero;
}

TEST(ShownGates, WhatShowsIsOnUnlessItIsSet) {
  EXPECT_TRUE(IsOn({}, 36));
  EXPECT_FALSE(IsOn({.minor = {}, .gates = {{"HPAScaleToZero", false}}}, 36));
  EXPECT_FALSE(IsOn({.minor = 36, .gates = {}}, 36)) << "the version is not left to the cluster";
  EXPECT_FALSE(IsOn({}, 35)) << "it is of a newer controller";
  const ServerVersion emulating{.minor = 37, .emulated_minor = 35};
  EXPECT_TRUE(WithScaleToZeroShown({}, emulating).gates.empty());
}

TEST(ShownGates, TheConditionShowsIt) {
  AutoscalerStatus status;
  status.conditions.emplace_back().type = "ScalingActive";
  EXPECT_FALSE(ShowsScaleToZero(status));
  status.conditions.emplace_back().type = "ScaledToZero";
  EXPECT_TRUE(ShowsScaleToZero(status));
}

}  // namespace
}  // namespace flyball::scaler
