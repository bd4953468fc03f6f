#include "base/log_limiter.h"

#include "absl/strings/str_cat.h"
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

TEST(LogLimiterTest, SeveralLinesAnInterval) {
  SimulatedClock clock(absl::UnixEpoch());
  LogLimiter limiter(clock, absl::Minutes(1), 2);
  EXPECT_TRUE(limiter.Due("a"));
  clock.Advance(absl::Seconds(59));
  EXPECT_TRUE(limiter.Due("a"));
  EXPECT_FALSE(limiter.Due("a"));
  EXPECT_TRUE(limiter.Due("b"));
  clock.Advance(absl::Seconds(1));
  EXPECT_TRUE(limiter.Due("a"));
  EXPECT_TRUE(limiter.Due("a"));
  EXPECT_FALSE(limiter.Due("a"));
}

TEST(LogLimiterTest, OfTooManyKeysTheOldestIsForgotten) {
  SimulatedClock clock(absl::UnixEpoch());
  LogLimiter limiter(clock, absl::Minutes(1));
  for (int i = 0; i < 1001; ++i) EXPECT_TRUE(limiter.Due(absl::StrCat(i)));
  for (int i = 1; i < 1001; ++i) EXPECT_FALSE(limiter.Due(absl::StrCat(i))) << i;
  EXPECT_TRUE(limiter.Due("0"));
}

}  // namespace
}  // namespace flyball
