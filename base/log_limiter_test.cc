#include "base/log_limiter.h"

#include "gtest/gtest.h"

namespace flyball {
namespace {

TEST(LogLimiterTest, OneLineAnIntervalForEachKey) {
  SimulatedClock clock(absl::UnixEpoch());
  LogLimiter limiter(clock, absl::Minutes(1));
  EXPECT_TRUE(limiter.Due("a"));
  EXPECT_FALSE(limiter.Due("a"));
  EXPECT_TRUE(limiter.Due("b"));
  clock.Advance(absl::Minutes(1));
  EXPECT_TRUE(limiter.Due("a"));
  EXPECT_FALSE(limiter.Due("a"));
}

}  // namespace
}  // namespace flyball
