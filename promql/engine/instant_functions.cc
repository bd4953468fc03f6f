#include "promql/engine/functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "absl/container/flat_hash_map.h"
#include "absl/time/civil_time.h"
#include "base/go/arithmetic.h"

namespace flyball::promql {
namespace {

double Sign(double v) { return v < 0 ? -1 : v > 0 ? 1 : v; }
double Degrees(double v) { return v * 180 / std::numbers::pi; }
double Radians(double v) { return v * std::numbers::pi / 180; }

// As Go's: the exponent apart from the fraction, so that powers of two are exact.
double Log2(double v) {
  int exponent = 0;
  const double fraction = std::frexp(v, &exponent);
  if (fraction == 0.5) return exponent - 1;
  return std::log(fraction) * std::numbers::log2e + exponent;
}

double Log10(double v) {
  constexpr double kLog10Of2 = 0.30102999566398119521;
  return Log2(v) * kLog10Of2;
}

// A calendar day and the second of that day, as Go's time.Unix(int64(v), 0).UTC() has them for
// every int64: its absolute time is an unsigned count from the year -292277022399, and wraps.
struct Moment {
  absl::CivilDay day;
  int64_t second_of_day = 0;
};

Moment MomentOf(double v) {
  constexpr uint64_t kAbsoluteEpoch = 62135596800u + 9223371966579724800u;
  constexpr uint64_t kDay = 86400;
  const uint64_t absolute = static_cast<uint64_t>(GoInt64(v)) + kAbsoluteEpoch;
  const auto days =
      static_cast<int64_t>(absolute / kDay) - static_cast<int64_t>(kAbsoluteEpoch / kDay);
  return {absl::CivilDay(1970, 1, 1) + days, static_cast<int64_t>(absolute % kDay)};
}

double Minute(double v) { return static_cast<double>(MomentOf(v).second_of_day / 60 % 60); }
double Hour(double v) { return static_cast<double>(MomentOf(v).second_of_day / 3600); }
double DayOfMonth(double v) { return MomentOf(v).day.day(); }
double DayOfYear(double v) { return absl::GetYearDay(MomentOf(v).day); }
double Month(double v) { return MomentOf(v).day.month(); }
double Year(double v) { return static_cast<double>(MomentOf(v).day.year()); }
double DayOfWeek(double v) {
  // absl counts from Monday.
  return (static_cast<int>(absl::GetWeekday(MomentOf(v).day)) + 1) % 7;
}
double DaysInMonth(double v) {
  const absl::CivilMonth month(MomentOf(v).day);
  return static_cast<double>(absl::CivilDay(month + 1) - absl::CivilDay(month));
}

ValueFunction Find(const absl::flat_hash_map<absl::string_view, ValueFunction>& table,
                   absl::string_view name) {
  const auto at = table.find(name);
  return at == table.end() ? nullptr : at->second;
}

}  // namespace

ValueFunction FindMathFunction(absl::string_view name) {
  static const auto& table = *new absl::flat_hash_map<absl::string_view, ValueFunction>{
      {"abs", std::fabs},    {"ceil", std::ceil},   {"floor", std::floor}, {"exp", std::exp},
      {"ln", std::log},      {"log2", Log2},        {"log10", Log10},      {"sqrt", std::sqrt},
      {"sgn", Sign},         {"deg", Degrees},      {"rad", Radians},      {"sin", std::sin},
      {"cos", std::cos},     {"tan", std::tan},     {"asin", std::asin},   {"acos", std::acos},
      {"atan", std::atan},   {"sinh", std::sinh},   {"cosh", std::cosh},   {"tanh", std::tanh},
      {"asinh", std::asinh}, {"acosh", std::acosh}, {"atanh", std::atanh},
  };
  return Find(table, name);
}

ValueFunction FindDateFunction(absl::string_view name) {
  static const auto& table = *new absl::flat_hash_map<absl::string_view, ValueFunction>{
      {"minute", Minute},         {"hour", Hour},
      {"day_of_week", DayOfWeek}, {"day_of_month", DayOfMonth},
      {"day_of_year", DayOfYear}, {"days_in_month", DaysInMonth},
      {"month", Month},           {"year", Year},
  };
  return Find(table, name);
}

double Round(double value, double nearest) {
  // The inverse loses less than dividing by `nearest` itself does.
  const double inverse = 1 / nearest;
  return std::floor(value * inverse + 0.5) / inverse;
}

void SortByValue(Vector* vector, bool descending) {
  std::stable_sort(vector->begin(), vector->end(),
                   [descending](const Element& a, const Element& b) {
                     if (std::isnan(a.value) || std::isnan(b.value)) {
                       return !std::isnan(a.value) && std::isnan(b.value);
                     }
                     return descending ? a.value > b.value : a.value < b.value;
                   });
}

}  // namespace flyball::promql
