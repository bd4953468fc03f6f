#include "scaler/spec/cron_expression.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "base/one_line.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

constexpr int kMaxDaysBack = 8 * 366;  // from one 29 February to the next across 2100

constexpr absl::string_view kMonths[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                         "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr absl::string_view kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct FieldRule {
  absl::string_view name;
  int min;
  int max;
  absl::Span<const absl::string_view> names;  // the first one is `min`
};

enum { kMinute, kHour, kDay, kMonth, kWeekday };  // places in CronExpression::fields_
const FieldRule kFields[] = {{"minute", 0, 59, {}},
                             {"hour", 0, 23, {}},
                             {"day of month", 1, 31, {}},
                             {"month", 1, 12, kMonths},
                             {"day of week", 0, 6, kWeekdays}};

bool IsStar(absl::string_view text) { return text == "*" || text == "?"; }

absl::Status Wrong(const FieldRule& rule, absl::string_view part, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(rule.name, " \"", part, "\": ", why));
}

absl::StatusOr<int> ParseNumber(absl::string_view text, const FieldRule& rule,
                                absl::string_view part) {
  const std::string lower = absl::AsciiStrToLower(text);
  const auto name = std::find(rule.names.begin(), rule.names.end(), lower);
  if (name != rule.names.end()) return rule.min + static_cast<int>(name - rule.names.begin());
  int number = 0;
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isdigit(static_cast<unsigned char>(c));
  });
  if (!digits || !absl::SimpleAtoi(text, &number)) {
    return Wrong(rule, part,
                 rule.names.empty() ? "expected a number" : "expected a number or a name");
  }
  return number;
}

absl::StatusOr<CronField> ParseRange(absl::string_view part, const FieldRule& rule) {
  const std::vector<absl::string_view> range_and_step = absl::StrSplit(part, '/');
  const std::vector<absl::string_view> ends = absl::StrSplit(range_and_step[0], '-');
  CronField out;
  int low = rule.min;
  int high = rule.max;
  if (IsStar(ends[0])) {
    out.any = true;
  } else {
    if (ends.size() > 2) return Wrong(rule, part, "more than one `-`");
    ASSIGN_OR_RETURN(low, ParseNumber(ends[0], rule, part));
    high = low;
    if (ends.size() == 2) {
      ASSIGN_OR_RETURN(high, ParseNumber(ends[1], rule, part));
    }
  }
  int step = 1;
  if (range_and_step.size() > 2) return Wrong(rule, part, "more than one `/`");
  if (range_and_step.size() == 2) {
    ASSIGN_OR_RETURN(step, ParseNumber(range_and_step[1], {rule.name, 0, 0, {}}, part));
    if (step == 0) return Wrong(rule, part, "a step of 0");
    if (ends.size() == 1) high = rule.max;  // `5/15` is `5-max/15`
    if (step > 1) out.any = false;
  }
  if (low < rule.min || high > rule.max) {
    return Wrong(rule, part, absl::StrCat("expected ", rule.min, " to ", rule.max));
  }
  if (low > high) return Wrong(rule, part, "begins after its end");
  for (int i = low; i <= high; i += std::min(step, rule.max + 1)) out.bits |= uint64_t{1} << i;
  return out;
}

absl::StatusOr<CronField> ParseField(absl::string_view field, const FieldRule& rule) {
  CronField out;
  for (const absl::string_view part : absl::StrSplit(field, ',', absl::SkipEmpty())) {
    ASSIGN_OR_RETURN(const CronField range, ParseRange(part, rule));
    out.bits |= range.bits;
    out.any |= range.any;
  }
  return out;
}

// The library would also open files by their path, take the machine's own zone by name, and take
// `Europe//Paris` for another zone than `Europe/Paris`.
bool IsZoneName(absl::string_view name) {
  return !name.empty() && name.size() <= 100 && name[0] != '/' && name != "localtime" &&
         name != "Local" && !absl::StrContains(name, "//") &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  absl::StrContains("/_+-", absl::string_view(&c, 1));
         });
}

// The library keeps every name that it was asked for until the process ends, also those of no
// zone, and names come from everybody who may write an autoscaler: so it is asked only for names of
// the zone database, unless that lies elsewhere (TZDIR).
bool MayBeZone(absl::string_view name) {
  constexpr char kDatabase[] = "/usr/share/zoneinfo";
  std::error_code ignored;
  return std::filesystem::is_regular_file(absl::StrCat(kDatabase, "/", name), ignored) ||
         !std::filesystem::is_directory(kDatabase, ignored);
}

// The last minute that the zone's clocks have shown up to `now`. At `now` they show `shown`, which
// for a while after the clocks went back is earlier.
absl::CivilMinute LatestShown(absl::Time now, absl::CivilSecond shown, const absl::TimeZone& zone) {
  // Clocks of one zone never differ by much more than a day, so no change before that matters.
  const absl::CivilSecond old = shown - 2 * 24 * 60 * 60;
  absl::CivilSecond latest = shown;
  absl::Time before = now + absl::Seconds(1);  // a change at this very second counts
  absl::TimeZone::CivilTransition change;
  while (zone.PrevTransition(before, &change) && change.from > old) {
    latest = std::max(latest, change.from);
    const int offset = zone.At(before - absl::Seconds(1)).offset;  // since the change
    before = absl::FromCivil(change.to, absl::UTCTimeZone()) - absl::Seconds(offset);
  }
  return absl::CivilMinute(latest);
}

}  // namespace

absl::StatusOr<absl::TimeZone> LoadZone(absl::string_view name) {
  if (name == "UTC") return absl::UTCTimeZone();
  absl::TimeZone zone;
  if (!IsZoneName(name) || !MayBeZone(name) || !absl::LoadTimeZone(name, &zone)) {
    return absl::InvalidArgumentError(absl::StrCat("unknown time zone \"", BriefText(name), "\""));
  }
  return zone;
}

absl::StatusOr<CronExpression> CronExpression::Parse(absl::string_view text) {
  CronExpression out;
  absl::string_view rest = text;
  if (absl::ConsumePrefix(&rest, "CRON_TZ=") || absl::ConsumePrefix(&rest, "TZ=")) {
    const std::pair<absl::string_view, absl::string_view> split =
        absl::StrSplit(rest, absl::MaxSplits(' ', 1));
    ASSIGN_OR_RETURN(out.zone_, LoadZone(split.first));
    rest = split.second;
  }
  const std::vector<absl::string_view> fields =
      absl::StrSplit(rest, absl::ByAnyChar(" \t\n\v\f\r"), absl::SkipEmpty());
  if (fields.size() != std::size(kFields)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected 5 fields (minute hour day month weekday), got ", fields.size()));
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    ASSIGN_OR_RETURN(out.fields_[i], ParseField(fields[i], kFields[i]));
  }
  out.any_hour_ = IsStar(fields[kHour].substr(0, 1));
  if (!out.IsEverTrue()) return absl::InvalidArgumentError("no time ever matches");
  return out;
}

bool CronExpression::DayMatches(absl::CivilDay day) const {
  if (!fields_[kMonth].Has(day.month())) return false;
  const CronField &days = fields_[kDay], &weekdays = fields_[kWeekday];
  const bool by_day = days.Has(day.day());
  const bool by_weekday = weekdays.Has((static_cast<int>(absl::GetWeekday(day)) + 1) % 7);
  return days.any || weekdays.any ? by_day && by_weekday : by_day || by_weekday;
}

bool CronExpression::IsEverTrue() const {
  if (fields_[kMinute].bits == 0 || fields_[kHour].bits == 0) return false;
  // Four years have every day of the year, each weekday of every month, and a 29 February.
  const absl::CivilDay first(2000, 1, 1);
  for (int i = 0; i < 4 * 366; ++i) {
    if (DayMatches(first + i)) return true;
  }
  return false;
}

std::optional<CronExpression::Fire> CronExpression::LatestFireOn(absl::CivilMinute last,
                                                                 absl::Time now,
                                                                 const absl::TimeZone& zone,
                                                                 int& steps) const {
  std::optional<Fire> latest;
  const auto consider = [&](absl::Time at, absl::Time as_written) {
    if (at <= now && (!latest.has_value() || at > latest->at)) latest = {at, as_written};
  };
  const CronField &hours = fields_[kHour], &minutes = fields_[kMinute];
  for (int hour = hours.LastBelow(last.hour() + 1); hour >= 0; hour = hours.LastBelow(hour)) {
    const int end = hour == last.hour() ? last.minute() + 1 : 60;
    for (int minute = minutes.LastBelow(end); minute >= 0; minute = minutes.LastBelow(minute)) {
      ++steps;
      const absl::TimeZone::TimeInfo info =
          zone.At(absl::CivilSecond(last.year(), last.month(), last.day(), hour, minute));
      switch (info.kind) {
        case absl::TimeZone::TimeInfo::UNIQUE:
          consider(info.pre, info.pre);
          if (latest.has_value()) return latest;  // earlier minutes of the day came earlier
          break;
        case absl::TimeZone::TimeInfo::SKIPPED:
          if (!any_hour_) consider(info.trans, info.post);
          break;
        case absl::TimeZone::TimeInfo::REPEATED:
          consider(info.pre, info.pre);
          if (any_hour_) consider(info.post, info.post);
          break;
      }
    }
  }
  return latest;
}

std::optional<CronExpression::Fire> CronExpression::LatestFire(absl::Time now,
                                                               const absl::TimeZone& zone,
                                                               int* steps) const {
  const absl::TimeZone& used = zone_.has_value() ? *zone_ : zone;
  int ignored = 0;
  int& looked = steps == nullptr ? ignored : *steps;
  const absl::CivilSecond shown = absl::ToCivilSecond(now, used);
  const absl::CivilDay oldest = absl::CivilDay(shown) + 1 - kMaxDaysBack;
  absl::CivilMinute last = LatestShown(now, shown, used);
  while (absl::CivilDay(last) >= oldest) {
    ++looked;
    const absl::CivilDay day(last);
    if (!fields_[kMonth].Has(day.month())) {
      last = absl::CivilMinute(absl::CivilMonth(day)) - 1;  // the end of the month before
      continue;
    }
    if (DayMatches(day)) {
      if (const auto fire = LatestFireOn(last, now, used, looked)) return fire;
    }
    last = absl::CivilMinute(day) - 1;  // the end of the day before
  }
  return std::nullopt;
}

bool IsOpenAt(absl::Time now, const CronExpression& start, const CronExpression& end,
              const absl::TimeZone& zone) {
  const std::optional<CronExpression::Fire> opened = start.LatestFire(now, zone);
  if (!opened.has_value()) return false;
  const std::optional<CronExpression::Fire> closed = end.LatestFire(now, zone);
  if (!closed.has_value()) return true;
  return closed->at != opened->at ? closed->at < opened->at
                                  : closed->as_written <= opened->as_written;
}

}  // namespace flyball::scaler
