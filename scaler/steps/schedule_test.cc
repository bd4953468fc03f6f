#include "scaler/steps/schedule.h"

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

TEST(NextSlot, IsTheSameForNamespacesThatAreDueAtAlmostTheSameTime) {
  std::set<MonotonicTime> slots;
  for (int i = 0; i < 300; ++i) slots.insert(NextSlot(absl::StrCat("team-", i), kSecond, {}));
  EXPECT_EQ(slots.size(), 25u);
}

using Items = std::vector<Schedule::Item*>;

TEST(Schedule, GivesWhoIsDueEarliestFirst) {
  Schedule schedule;
  Schedule::Item a, b, c;
  schedule.Set(a, 3 * kSecond);
  schedule.Set(b, 1 * kSecond);
  schedule.Set(c, 2 * kSecond);
  EXPECT_EQ(schedule.Next(), 1 * kSecond);
  EXPECT_EQ(schedule.PopDue(2 * kSecond), (Items{&b, &c}));
  EXPECT_EQ(schedule.PopDue(2 * kSecond), Items());
  EXPECT_EQ(schedule.Next(), 3 * kSecond);
}

TEST(Schedule, TheLastTimeSetCounts) {
  Schedule schedule;
  Schedule::Item a;
  schedule.Set(a, 3 * kSecond);
  schedule.Set(a, 1 * kSecond);
  EXPECT_EQ(schedule.PopDue(1 * kSecond), Items{&a});
  EXPECT_EQ(schedule.PopDue(5 * kSecond), Items());  // only once
  schedule.Set(a, 6 * kSecond);
  schedule.Set(a, 8 * kSecond);
  EXPECT_EQ(schedule.Next(), 8 * kSecond);
  schedule.Remove(a);
  schedule.Remove(a);
  EXPECT_EQ(schedule.Next(), std::nullopt);
}

TEST(Schedule, OneTakenOutLeavesItsNeighbours) {
  Schedule schedule;
  Schedule::Item a, b, c, d;
  for (Schedule::Item* item : {&a, &b, &c, &d}) schedule.Set(*item, kSecond);
  schedule.Remove(b);
  schedule.Set(d, 2 * kSecond);
  EXPECT_EQ(schedule.PopDue(1 * kSecond), (Items{&a, &c}));
  EXPECT_EQ(schedule.PopDue(2 * kSecond), Items{&d});
}

}  // namespace
}  // namespace flyball::scaler
