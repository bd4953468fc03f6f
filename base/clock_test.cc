#include "base/clock.h"

#include "gtest/gtest.h"

namespace flyball {
namespace {

TEST(SimulatedClockTest, WallJumpsLeaveMonotonicTimeAlone) {
  SimulatedClock clock(absl::FromUnixSeconds(1000));
  clock.Advance(absl::Seconds(5));
  clock.JumpWall(absl::FromUnixSeconds(10));
  EXPECT_EQ(clock.WallNow(), absl::FromUnixSeconds(10));
  EXPECT_EQ(clock.MonotonicNow(), absl::Seconds(5));
}

TEST(SystemClockTest, MonotonicTimeDoesNotRunBackwards) {
  const MonotonicTime first = Clock::System().MonotonicNow();
  EXPECT_GE(Clock::System().MonotonicNow(), first);
}

}  // namespace
}  // namespace flyball
