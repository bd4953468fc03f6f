#include "scaler/loop/schedule.h"

#include <gtest/gtest.h>

#include <set>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kSecond = absl::Seconds(1);

TEST(NextSlot, ComesWithinOnePeriodAndThenEachPeriod) {
  for (int i = 0; i < 50; ++i) {
    const std::string ns = absl::StrCat("team-", i);
    for (const absl::Duration now :
         {0 * kSecond, 7 * kSecond, 3600 * kSecond + absl::Nanoseconds(1)}) {
      const MonotonicTime slot = NextSlot(ns, 15 * kSecond, now);
      EXPECT_GT(slot, now);
      EXPECT_LE(slot, now + 15 * kSecond);
      EXPECT_EQ(NextSlot(ns, 15 * kSecond, slot), slot + 15 * kSecond);
    }
  }
}

TEST(NextSlot, IsSpreadByNamespace) {
  std::set<MonotonicTime> seconds;
  for (int i = 0; i < 300; ++i) {
    seconds.insert(absl::Floor(NextSlot(absl::StrCat("team-", i), 15 * kSecond, {}), kSecond));
  }
  EXPECT_EQ(seconds.size(), 15u);  // each second of the period has some
}

TEST(Schedule, GivesWhoIsDueEarliestFirst) {
  Schedule schedule;
  schedule.Set(1, 3 * kSecond);
  schedule.Set(2, 1 * kSecond);
  schedule.Set(3, 2 * kSecond);
  EXPECT_EQ(schedule.Next(), 1 * kSecond);
  EXPECT_EQ(schedule.PopDue(2 * kSecond), (std::vector<Schedule::Id>{2, 3}));
  EXPECT_EQ(schedule.PopDue(2 * kSecond), std::vector<Schedule::Id>());
  EXPECT_EQ(schedule.size(), 1u);
}

TEST(Schedule, TheLastTimeSetCounts) {
  Schedule schedule;
  schedule.Set(1, 3 * kSecond);
  schedule.Set(1, 1 * kSecond);
  EXPECT_EQ(schedule.PopDue(1 * kSecond), std::vector<Schedule::Id>{1});
  EXPECT_EQ(schedule.PopDue(5 * kSecond), std::vector<Schedule::Id>());  // only once
  schedule.Set(1, 6 * kSecond);
  schedule.Set(1, 8 * kSecond);
  EXPECT_EQ(schedule.Next(), 8 * kSecond);
  schedule.Remove(1);
  EXPECT_EQ(schedule.Next(), std::nullopt);
}

}  // namespace
}  // namespace flyball::scaler
