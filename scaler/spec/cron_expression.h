// A cron expression of five fields, and when it last came true in a time zone.
//
// Pure.
//
// Source:  the grammar is that of robfig/cron 3.0.1 with minute, hour, day of month, month and day
//          of week: numbers, names (jan, mon), `a-b`, `*`, `?`, `/step`, lists; Sunday is 0; no
//          @daily, no seconds; a prefix `CRON_TZ=ZONE ` or `TZ=ZONE ` beats the zone given. Days of
//          month and of week that are both restricted are or-ed.
// Differs: where clocks change. An expression with a certain hour is about local time: a time that
//          is skipped counts at the first instant after the gap, a time that comes twice counts the
//          first time. One whose hour starts with `*` follows elapsed time: every instant that
//          shows a matching time counts, and skipped ones do not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::scaler {

// What one field says.
struct CronField {
  uint64_t bits = 0;  // bit n: n matches
  bool any = false;   // it is `*` or `?`, without a step

  bool Has(int64_t number) const { return ((bits >> number) & 1) != 0; }
};

class CronExpression {
 public:
  // kInvalidArgument: what is wrong with which field, or that no day ever matches.
  static absl::StatusOr<CronExpression> Parse(absl::string_view text);

  struct Fire {
    absl::Time at;
    // When it would have been, were the clocks already the later ones: earlier than `at` where that
    // time was skipped. Of several that are skipped together the last.
    absl::Time as_written;
  };
  // The last time at or before `now` at which it was true; nullopt: it was not for eight years.
  std::optional<Fire> LatestFire(absl::Time now, const absl::TimeZone& zone) const;

 private:
  bool DayMatches(absl::CivilDay day) const;
  bool IsEverTrue() const;
  std::optional<Fire> LatestFireOn(absl::CivilDay day, absl::Time now,
                                   const absl::TimeZone& zone) const;

  std::array<CronField, 5> fields_;
  bool any_hour_ = false;  // hour starts with `*` or `?`
  std::optional<absl::TimeZone> zone_;
};

// Whether the last start is no earlier than the last end: [start, end). Where clocks skip both, and
// so both come at one instant, the later one by what is written counts.
bool IsOpenAt(absl::Time now, const CronExpression& start, const CronExpression& end,
              const absl::TimeZone& zone);

// An IANA time zone. kInvalidArgument for anything that is not a name in the zone database.
absl::StatusOr<absl::TimeZone> LoadZone(absl::string_view name);

}  // namespace flyball::scaler
