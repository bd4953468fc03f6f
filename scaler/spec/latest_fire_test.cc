// CronExpression::LatestFire against a plain search that tries every minute of every day, beginning
// at the end of tomorrow; and how few steps it takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scaler/spec/cron_expression.h"

namespace flyball::scaler {
namespace {

using Fire = CronExpression::Fire;

struct PlainField {
  std::string text;
  std::array<bool, 60> has = {};
  bool any = false;
};

struct PlainExpression {
  PlainField minute, hour, day, month, weekday;

  std::string Text() const {
    return absl::StrJoin({minute.text, hour.text, day.text, month.text, weekday.text}, " ");
  }

  bool DayMatches(absl::CivilDay at) const {
    if (!month.has[static_cast<size_t>(at.month())]) return false;
    const bool by_day = day.has[static_cast<size_t>(at.day())];
    const bool by_weekday = weekday.has[(static_cast<size_t>(absl::GetWeekday(at)) + 1) % 7];
    return day.any || weekday.any ? by_day && by_weekday : by_day || by_weekday;
  }

  std::optional<Fire> LatestFireOn(absl::CivilDay at, absl::Time now, absl::TimeZone zone) const {
    const bool any_hour = hour.text[0] == '*' || hour.text[0] == '?';
    std::optional<Fire> latest;
    const auto consider = [&](absl::Time time, absl::Time as_written) {
      if (time <= now && (!latest.has_value() || time > latest->at)) latest = {time, as_written};
    };
    for (size_t i = 24 * 60; i-- > 0;) {
      if (!hour.has[i / 60] || !minute.has[i % 60]) continue;
      const absl::TimeZone::TimeInfo info =
          zone.At(absl::CivilSecond(at.year(), at.month(), at.day(), i / 60, i % 60));
      if (info.kind == absl::TimeZone::TimeInfo::UNIQUE) {
        consider(info.pre, info.pre);
        if (latest.has_value()) return latest;
      } else if (info.kind == absl::TimeZone::TimeInfo::SKIPPED) {
        if (!any_hour) consider(info.trans, info.post);
      } else {
        consider(info.pre, info.pre);
        if (any_hour) consider(info.post, info.post);
      }
    }
    return latest;
  }

  std::optional<Fire> LatestFire(absl::Time now, absl::TimeZone zone) const {
    const absl::CivilDay last = absl::ToCivilDay(now, zone) + 1;
    for (int back = 0; back <= 8 * 366; ++back) {
      if (!DayMatches(last - back)) continue;
      if (const auto fire = LatestFireOn(last - back, now, zone)) return fire;
    }
    return std::nullopt;
  }
};

class Chooser {
 public:
  int Below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(random_); }

  // `stars` of ten are `*` or `?`.
  PlainField Field(int min, int max, int stars) {
    PlainField field;
    const auto set = [&](int low, int high, int step) {
      for (int i = low; i <= high; i += step) field.has[static_cast<size_t>(i)] = true;
    };
    if (Below(10) < stars) {
      field.any = true;
      field.text = Below(4) > 0 ? "*" : "?";
      set(min, max, 1);
      return field;
    }
    const int low = min + Below(max - min + 1);
    const int high = low + Below(max - low + 1);
    const int step = 2 + Below(max - min);
    switch (Below(4)) {
      case 0:
        field.text = absl::StrCat(low, ",", high);
        set(low, low, 1);
        set(high, high, 1);
        break;
      case 1:
        field.text = absl::StrCat(low, "-", high);
        set(low, high, 1);
        break;
      case 2:
        field.text = absl::StrCat("*/", step);
        set(min, max, step);
        break;
      default: field.text = absl::StrCat(low); set(low, low, 1);
    }
    return field;
  }

  PlainExpression Expression() {
    return {.minute = Field(0, 59, 3),
            .hour = Field(0, 23, 4),
            .day = Field(1, 31, 7),
            .month = Field(1, 12, 8),
            .weekday = Field(0, 6, 7)};
  }

  // Mostly within a day and a half of a change of the zone's clocks.
  absl::Time Moment(absl::TimeZone zone) {
    const absl::Time some = absl::FromUnixSeconds(int64_t{Below(7000)} * 1'000'000 - 3'000'000'000);
    absl::TimeZone::CivilTransition change;
    if (Below(10) == 0 || !zone.NextTransition(some, &change)) return some;
    const absl::Time at = zone.At(std::min(change.from, change.to)).trans;
    switch (Below(4)) {
      case 0: return at + absl::Minutes(Below(5) - 2) + absl::Seconds(Below(3) - 1);
      case 1: return at + absl::Seconds(Below(4 * 3600) - 2 * 3600);
      default: return at + absl::Minutes(Below(72 * 60) - 36 * 60);
    }
  }

 private:
  std::mt19937 random_{20261129};
};

std::string Shown(const std::optional<Fire>& fire) {
  if (!fire.has_value()) return "never";
  return absl::StrCat(absl::FormatTime(fire->at, absl::UTCTimeZone()), ", as written ",
                      absl::FormatTime(fire->as_written, absl::UTCTimeZone()));
}

// The zones have changes at midnight, of half an hour, of a whole day, several within a month, and
// offsets with seconds in the past.
TEST(LatestFireSearchTest, IsThatOfThePlainSearch) {
  const std::vector<std::string> names = {
      "UTC",           "Europe/Berlin",     "America/New_York",    "Atlantic/Azores",
      "Asia/Kolkata",  "America/Havana",    "Australia/Lord_Howe", "Africa/Casablanca",
      "Africa/Cairo",  "Pacific/Apia",      "Pacific/Kwajalein",   "America/Asuncion",
      "Asia/Tehran",   "America/Sao_Paulo", "Pacific/Auckland",    "Antarctica/Troll",
      "Asia/Gaza",     "America/Juneau",    "Asia/Manila",         "America/St_Johns",
      "Europe/Dublin", "Antarctica/Casey"};
  Chooser choose;
  int compared = 0;
  for (int i = 0; i < 30'000; ++i) {
    const PlainExpression plain = choose.Expression();
    const absl::StatusOr<CronExpression> expression = CronExpression::Parse(plain.Text());
    if (!expression.ok()) continue;  // no time ever matches
    const std::string& name =
        names[static_cast<size_t>(choose.Below(static_cast<int>(names.size())))];
    const absl::TimeZone zone = *LoadZone(name);
    const absl::Time now = choose.Moment(zone);
    ++compared;
    ASSERT_EQ(Shown(expression->LatestFire(now, zone)), Shown(plain.LatestFire(now, zone)))
        << plain.Text() << " in " << name << " at " << now;
  }
  EXPECT_GT(compared, 25'000);
}

// In the first minutes of a day, in the last ones, and around midday; in the night in which clocks
// change, and on any other day.
TEST(LatestFireSearchTest, TakesFewSteps) {
  const absl::TimeZone zone = *LoadZone("Europe/Berlin");
  const auto most = [&](absl::string_view text, absl::CivilDay day) {
    const CronExpression expression = *CronExpression::Parse(text);
    int most = 0;
    for (const int minute : {0, 1, 59, 121, 179, 180, 181, 721, 1438, 1439}) {
      int steps = 0;
      expression.LatestFire(absl::FromCivil(absl::CivilMinute(day) + minute, zone), zone, &steps);
      most = std::max(most, steps);
    }
    return most;
  };
  const absl::CivilDay usual(2026, 6, 30);
  const absl::CivilDay back(2026, 10, 25);  // 03:00 -> 02:00
  for (const char* text :
       {"* * * * *", "0-58 * * * *", "*/2 0-22 * * *", "0 8 * * *", "59 23 * * *"}) {
    EXPECT_LE(most(text, usual), 3) << text;
    EXPECT_LE(most(text, back + 1), 3) << text;
    EXPECT_LE(most(text, back), 64) << text;  // each minute of the hour that comes twice
  }
  EXPECT_LE(most("0 8 * * 1", usual), 9);
  EXPECT_LE(most("* * 29 2 *", usual), 300);
}

}  // namespace
}  // namespace flyball::scaler
