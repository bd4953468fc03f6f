// A cron expression of five fields, and when it last came true in a time zone.
//
// Pure.
//
// Source:  the grammar is that of robfig/cron 3.0.1 with minute, hour, day of month, month and day
//          of week: numbers, names (jan, mon), `a-b`, `*`, `?`, `/step`, lists; Sunday is 0; no
//          @daily, no seconds; a prefix `CRON_TZ=ZONE ` or `TZ=ZONE ` takes precedence over the
//          zone given. If both days of month and days of week are restricted, either may match.
// Differs: where clocks change. An expression with a certain hour is about local time: a time that
//          is skipped counts at the first instant after the gap, a time that comes twice counts the
//          first time. One whose hour starts with `*` or `?` follows elapsed time: every instant
//          that shows a matching time counts, and skipped ones do not.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::scaler {

struct CronField {
  uint64_t bits = 0;  // bit n: n matches
  bool any = false;   // it is `*` or `?`, without a step

  bool Has(int64_t number) const { return ((bits >> number) & 1) != 0; }
  // The largest number below `limit` (0..63) that matches; -1: none.
  int LastBelow(int limit) const {
    return static_cast<int>(std::bit_width(bits & ((uint64_t{1} << limit) - 1))) - 1;
  }
};

class CronExpression {
 public:
  // kInvalidArgument: what is wrong with which field, or that no day ever matches.
  static absl::StatusOr<CronExpression> Parse(absl::string_view text);

  struct Fire {
    absl::Time at;
    // Equal to `at`, except where the clocks skipped the time. Then it is the instant that the time
    // would be by the clocks after the change, which is earlier than `at`. If a gap skips several
    // times, this is the last of them.
    absl::Time as_written;
  };
  // The last time at or before `now` at which the expression was true; nullopt: it was not true in
  // the last eight years. Cheap, since autoscalers have many schedules that are evaluated often.
  // `steps`, for tests, grows by one with each day and each time of a day that is tried.
  std::optional<Fire> LatestFire(absl::Time now, const absl::TimeZone& zone,
                                 int* steps = nullptr) const;

 private:
  bool DayMatches(absl::CivilDay day) const;
  bool IsEverTrue() const;
  // Does the same for one day, backwards from the minute `last`.
  std::optional<Fire> LatestFireOn(absl::CivilMinute last, absl::Time now,
                                   const absl::TimeZone& zone, int& steps) const;

  std::array<CronField, 5> fields_;
  bool any_hour_ = false;  // hour starts with `*` or `?`
  std::optional<absl::TimeZone> zone_;
};

// Whether the last start is no earlier than the last end: [start, end). If the clocks skip both,
// both come at one instant, and the one with the later `as_written` counts.
bool IsOpenAt(absl::Time now, const CronExpression& start, const CronExpression& end,
              const absl::TimeZone& zone);

// An IANA time zone. kInvalidArgument for anything that is not a name in the zone database.
absl::StatusOr<absl::TimeZone> LoadZone(absl::string_view name);

}  // namespace flyball::scaler
