#include "scaler/stores/stall_detector.h"

#include "gtest/gtest.h"

namespace flyball::scaler {
namespace {

constexpr MonotonicTime kStart = absl::Seconds(1000);

TEST(StallDetector, IsQuietBeforeTheFirstBeatAndWhileBeatsCome) {
  StallDetector stalls;
  EXPECT_FALSE(stalls.IsRecent(kStart));
  for (int i = 0; i < 40; ++i) {
    const MonotonicTime now = kStart + i * StallDetector::kBeat;
    EXPECT_FALSE(stalls.IsRecent(now));
    stalls.Beat(now);
    EXPECT_FALSE(stalls.IsRecent(now + StallDetector::kStall));  // which is not longer than a stall
  }
}

TEST(StallDetector, SaysItBeforeTheNextBeatAndForAWhileAfterIt) {
  StallDetector stalls;
  stalls.Beat(kStart);
  const MonotonicTime after = kStart + absl::Seconds(9);
  EXPECT_TRUE(stalls.IsRecent(after));
  MonotonicTime now = after;
  for (; now <= after + StallDetector::kRecent; now += StallDetector::kBeat) {
    stalls.Beat(now);
    EXPECT_TRUE(stalls.IsRecent(now));
  }
  stalls.Beat(now);
  EXPECT_FALSE(stalls.IsRecent(now));
}

}  // namespace
}  // namespace flyball::scaler
