#include "scaler/spec/cron_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "absl/strings/str_cat.h"

namespace flyball::scaler {
namespace {

using testing::HasSubstr;

absl::Time At(absl::string_view rfc3339) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, rfc3339, &time, &error)) << error;
  return time;
}

struct FireRow {
  std::string name;
  std::string expression;
  std::string zone;
  std::string now;
  std::string fired;  // "": never
};

class LatestFireTest : public testing::TestWithParam<FireRow> {};

TEST_P(LatestFireTest, Row) {
  const FireRow& row = GetParam();
  const auto expression = CronExpression::Parse(row.expression);
  ASSERT_TRUE(expression.ok()) << expression.status();
  const auto got = expression->LatestFire(At(row.now), *LoadZone(row.zone));
  if (row.fired.empty()) {
    EXPECT_FALSE(got.has_value()) << got->at;
  } else {
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->at, At(row.fired));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Grammar, LatestFireTest,
    testing::Values(
        FireRow{"ThisMoment", "30 8 * * *", "UTC", "2026-03-04T08:30:00Z", "2026-03-04T08:30:00Z"},
        FireRow{"Yesterday", "30 8 * * *", "UTC", "2026-03-04T08:29:59Z", "2026-03-03T08:30:00Z"},
        FireRow{"EveryMinute", "* * * * *", "UTC", "2026-03-04T08:29:59Z", "2026-03-04T08:29:00Z"},
        FireRow{"AList", "5,50 * * * *", "UTC", "2026-03-04T08:29:59Z", "2026-03-04T08:05:00Z"},
        FireRow{"ARange", "10-20 * * * *", "UTC", "2026-03-04T08:29:59Z", "2026-03-04T08:20:00Z"},
        FireRow{"AStep", "*/7 * * * *", "UTC", "2026-03-04T08:59:59Z", "2026-03-04T08:56:00Z"},
        // 3, 13, 23, …, 53
        FireRow{"AStepFromANumber", "3/10 * * * *", "UTC", "2026-03-04T08:59:59Z",
                "2026-03-04T08:53:00Z"},
        FireRow{"AStepInARange", "3-20/10 * * * *", "UTC", "2026-03-04T08:59:59Z",
                "2026-03-04T08:13:00Z"},
        FireRow{"AStepBeyondTheRange", "*/100 * * * *", "UTC", "2026-03-04T08:59:59Z",
                "2026-03-04T08:00:00Z"},
        FireRow{"EmptyListItemsAreNothing", ",5,, * * * *", "UTC", "2026-03-04T08:29:59Z",
                "2026-03-04T08:05:00Z"},
        FireRow{"QuestionMarkIsAStar", "0 0 ? ? ?", "UTC", "2026-03-04T08:29:59Z",
                "2026-03-04T00:00:00Z"},
        FireRow{"NamesOfAnyCase", "0 0 * FEB Mon-wed", "UTC", "2026-03-04T08:29:59Z",
                "2026-02-25T00:00:00Z"},
        FireRow{"SundayIsZero", "0 0 * * 0", "UTC", "2026-03-04T08:29:59Z", "2026-03-01T00:00:00Z"},
        FireRow{"SaturdayIsSix", "0 0 * * 6", "UTC", "2026-03-04T08:29:59Z",
                "2026-02-28T00:00:00Z"},
        // Monday 2 March comes after Sunday 1 March.
        FireRow{"DayOrWeekday", "0 0 1 * mon", "UTC", "2026-03-04T08:29:59Z",
                "2026-03-02T00:00:00Z"},
        // `*/2` is restricted: odd days, or Wednesdays.
        FireRow{"AStarWithAStepIsRestricted", "0 0 */2 * wed", "UTC", "2026-03-04T08:29:59Z",
                "2026-03-04T00:00:00Z"},
        FireRow{"AStarAndAWeekdayAreBothMeant", "0 0 */1 * mon", "UTC", "2026-03-04T08:29:59Z",
                "2026-03-02T00:00:00Z"},
        FireRow{"LeapDay", "0 0 29 2 *", "UTC", "2027-03-04T00:00:00Z", "2024-02-29T00:00:00Z"},
        FireRow{"LeapDayAcrossACentury", "0 0 29 2 *", "UTC", "2104-02-28T00:00:00Z",
                "2096-02-29T00:00:00Z"},
        FireRow{"ThirtyFirstOfAMonthThatHasOne", "0 0 31 4,5 *", "UTC", "2026-07-04T00:00:00Z",
                "2026-05-31T00:00:00Z"},
        FireRow{"ZoneOfTheExpression", "CRON_TZ=Asia/Tokyo 0 9 * * *", "UTC",
                "2026-03-04T08:29:59Z", "2026-03-04T00:00:00Z"},
        FireRow{"ShortZoneOfTheExpression", "TZ=Asia/Tokyo 0 9 * * *", "Europe/Prague",
                "2026-03-04T08:29:59Z", "2026-03-04T00:00:00Z"},
        FireRow{"LocalDaysAreNotUtcDays", "0 0 4 3 *", "Pacific/Auckland", "2026-03-03T12:00:00Z",
                "2026-03-03T11:00:00Z"}),
    [](const auto& info) { return info.param.name; });

// Prague: 29 March 2026 02:00 -> 03:00 (01:00 UTC); 25 October 2026 03:00 -> 02:00 (01:00 UTC).
INSTANTIATE_TEST_SUITE_P(
    ClockChanges, LatestFireTest,
    testing::Values(FireRow{"ASkippedTimeCountsAfterTheGap", "30 2 * * *", "Europe/Prague",
                            "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"},
                    FireRow{"NotBeforeTheGapEnds", "30 2 * * *", "Europe/Prague",
                            "2026-03-29T00:59:59Z", "2026-03-28T01:30:00Z"},
                    FireRow{"TheDayAfterIsAsAlways", "30 2 * * *", "Europe/Prague",
                            "2026-03-30T00:30:00Z", "2026-03-30T00:30:00Z"},
                    FireRow{"EveryHourSkipsWhatIsSkipped", "30 * * * *", "Europe/Prague",
                            "2026-03-29T01:29:59Z", "2026-03-29T00:30:00Z"},
                    FireRow{"ARepeatedTimeCountsFirst", "30 2 * * *", "Europe/Prague",
                            "2026-10-25T00:30:00Z", "2026-10-25T00:30:00Z"},
                    FireRow{"ARepeatedTimeCountsOnce", "30 2 * * *", "Europe/Prague",
                            "2026-10-25T01:30:00Z", "2026-10-25T00:30:00Z"},
                    FireRow{"ItCountsWhileTheHourIsRepeated", "30 2 * * *", "Europe/Prague",
                            "2026-10-25T01:10:00Z", "2026-10-25T00:30:00Z"},
                    FireRow{"EveryHourRepeatsToo", "30 * * * *", "Europe/Prague",
                            "2026-10-25T01:30:00Z", "2026-10-25T01:30:00Z"},
                    FireRow{"EveryHourInTheSecondPass", "30 * * * *", "Europe/Prague",
                            "2026-10-25T01:29:59Z", "2026-10-25T00:30:00Z"},
                    // Half an hour only: 5 April 2026 02:00 -> 01:30 (15:00 UTC the day before).
                    FireRow{"HalfAnHourIsRepeated", "45 1 * * *", "Australia/Lord_Howe",
                            "2026-04-04T15:20:00Z", "2026-04-04T14:45:00Z"},
                    // Samoa had no 30 December 2011.
                    FireRow{"ASkippedDayCountsAfterIt", "0 12 30 12 *", "Pacific/Apia",
                            "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"},
                    // Azores, 25 October 2026: 01:00 -> 00:00 (01:00 UTC).
                    FireRow{"MidnightIsRepeated", "15 0 * * *", "Atlantic/Azores",
                            "2026-10-25T01:20:00Z", "2026-10-25T00:15:00Z"}),
    [](const auto& info) { return info.param.name; });

struct BadRow {
  std::string name;
  std::string expression;
  std::string error;
};

class CronRefusedTest : public testing::TestWithParam<BadRow> {};

TEST_P(CronRefusedTest, SaysWhere) {
  const auto got = CronExpression::Parse(GetParam().expression);
  EXPECT_EQ(got.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(got.status().message()), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Rows, CronRefusedTest,
    testing::Values(BadRow{"Empty", "", "expected 5 fields (minute hour day month weekday), got 0"},
                    BadRow{"SixFields", "0 0 8 * * *", "got 6"}, BadRow{"Daily", "@daily", "got 1"},
                    BadRow{"MinuteSixty", "60 * * * *", R"(minute "60": expected 0 to 59)"},
                    BadRow{"HourTwentyFour", "0 24 * * *", R"(hour "24": expected 0 to 23)"},
                    BadRow{"DayZero", "0 0 0 * *", R"(day of month "0": expected 1 to 31)"},
                    BadRow{"SundaySeven", "0 0 * * 7", R"(day of week "7": expected 0 to 6)"},
                    BadRow{"OverMidnight", "0 22-4 * * *", R"(hour "22-4": begins after its end)"},
                    BadRow{"StepOfZero", "*/0 * * * *", R"(minute "*/0": a step of 0)"},
                    BadRow{"TwoSteps", "*/2/2 * * * *", "more than one `/`"},
                    BadRow{"TwoHyphens", "1-2-3 * * * *", "more than one `-`"},
                    BadRow{"Letters", "x * * * *", R"(minute "x": expected a number)"},
                    BadRow{"UnknownName", "0 0 * * funday", "expected a number or a name"},
                    BadRow{"Negative", "-5 * * * *", R"(minute "-5": expected a number)"},
                    BadRow{"Huge", "99999999999999999999 * * * *", "expected a number"},
                    BadRow{"ThirtyFirstOfFebruary", "0 0 31 2 *", "no time ever matches"},
                    BadRow{"OnlyCommas", ", * * * *", "no time ever matches"},
                    BadRow{"UnknownZone", "TZ=Mars/Base 0 0 * * *",
                           R"(unknown time zone "Mars/Base")"},
                    BadRow{"ZoneAlone", "TZ=UTC", "got 0"}),
    [](const auto& info) { return info.param.name; });

TEST(LoadZoneTest, OnlyNamesOfTheDatabase) {
  EXPECT_TRUE(LoadZone("Europe/Prague").ok());
  EXPECT_TRUE(LoadZone("Etc/GMT+5").ok());
  for (const char* name : {"", "localtime", "Local", "/etc/localtime", "../Etc/UTC", "file:UTC",
                           "Mars/Base", "Europe", "Europe//Prague", "Europe/Prague/"}) {
    EXPECT_FALSE(LoadZone(name).ok()) << name;
  }
}

TEST(LoadZoneTest, NamesOfNoZoneTakeNoMemory) {
  EXPECT_FALSE(LoadZone("Mars/Base").ok());
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(LoadZone(absl::StrCat("Mars/Base", i)).ok());
  EXPECT_LT(mallinfo2().uordblks, before + 10'000);
}

}  // namespace
}  // namespace flyball::scaler
