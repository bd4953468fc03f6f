#include "adapter/live/scrape/timing.h"

#include <set>

#include <gtest/gtest.h>

namespace flyball::scrape {
namespace {

constexpr absl::Duration kInterval = absl::Seconds(10);
const absl::Time kNow = absl::FromUnixMillis(1'700'000'003'456);

TEST(FirstWaitTest, TheSamePlaceWheneverItIsAsked) {
  const absl::Time first = kNow + FirstWait(kNow, kInterval, 12345, 99);
  for (int ms = 1; ms < 10'000; ms += 777) {
    const absl::Time later = kNow + absl::Milliseconds(ms);
    const absl::Duration apart = later + FirstWait(later, kInterval, 12345, 99) - first;
    EXPECT_EQ(apart % kInterval, absl::ZeroDuration());
  }
}

TEST(FirstWaitTest, WithinOneInterval) {
  for (uint64_t hash = 0; hash < 1000; ++hash) {
    const absl::Duration wait = FirstWait(kNow, kInterval, hash * 0x9E3779B97F4A7C15u, 7);
    EXPECT_GT(wait, absl::ZeroDuration());
    EXPECT_LE(wait, kInterval);
  }
}

TEST(StampTest, TheTickIfTheScrapeIsHardlyLate) {
  EXPECT_EQ(StampOf(kNow, kNow + absl::Milliseconds(2), kInterval), kNow);
  EXPECT_EQ(StampOf(kNow, kNow + absl::Milliseconds(3), kInterval), kNow + absl::Milliseconds(3));
  // 1 % of 100 ms is less than 2 ms.
  const absl::Time late = kNow + absl::Microseconds(1500);
  EXPECT_EQ(StampOf(kNow, late, absl::Milliseconds(100)), late);
}

}  // namespace
}  // namespace flyball::scrape
