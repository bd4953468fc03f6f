#include "scaler/explain/amounts.h"

#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace flyball::scaler {
namespace {

constexpr double kKibi = 1024;

bool CountsBytes(const std::string& resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         absl::StartsWith(resource, "hugepages-");
}

}  // namespace

std::string ShowNumber(double number, int decimals) {
  if (!std::isfinite(number)) return std::isnan(number) ? "undefined" : "infinite";
  if (std::fabs(number) >= 1e15) return absl::StrFormat("%.4g", number);
  std::string text = absl::StrFormat("%.*f", decimals, number);
  if (absl::StrContains(text, '.')) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  // A number that is not zero must not be shown as zero.
  if (number != 0 && (text == "0" || text == "-0")) return absl::StrFormat("%.1g", number);
  return text == "-0" ? "0" : text;
}

std::string ShowAmount(double milli, const MetricSpec& metric) {
  const double units = milli / 1000;
  if (metric.resource == "cpu") {
    return absl::StrCat(ShowNumber(units), units == 1 ? " core" : " cores");
  }
  if (!CountsBytes(metric.resource)) return ShowNumber(units);
  static constexpr absl::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double size = units;
  size_t unit = 0;
  while (std::fabs(size) >= kKibi && unit + 1 < std::size(kUnits)) {
    size /= kKibi;
    ++unit;
  }
  return absl::StrCat(ShowNumber(size, 1), " ", kUnits[unit]);
}

std::string ShowAge(absl::Duration age) {
  if (age < absl::ZeroDuration()) return absl::StrCat("minus ", ShowAge(-age));
  const int64_t seconds = absl::ToInt64Seconds(age), minutes = seconds / 60, hours = minutes / 60;
  const auto with_rest = [](const std::string& whole, int64_t rest, const char* unit) {
    return rest == 0 ? whole : absl::StrCat(whole, rest, unit);
  };
  if (seconds < 60) return absl::StrCat(seconds, "s");
  if (minutes < 60) return with_rest(absl::StrCat(minutes, "m"), seconds % 60, "s");
  if (hours < 48) return with_rest(absl::StrCat(hours, "h"), minutes % 60, "m");
  return absl::StrCat(hours / 24, "d");
}

std::string ShowTime(absl::Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", time, absl::UTCTimeZone());
}

std::string ShowCount(int64_t count, absl::string_view noun) {
  const absl::string_view plural = absl::EndsWith(noun, "s") ? "" : "s";
  return absl::StrCat(count, " ", noun, count == 1 ? "" : plural);
}

std::string ShowMetricName(const MetricSpec& metric) {
  const std::string selector = metric.metric.selector_text.empty()
                                   ? ""
                                   : absl::StrCat("{", metric.metric.selector_text, "}");
  switch (metric.type) {
    case MetricType::kResource: return metric.resource;
    case MetricType::kContainerResource:
      return absl::StrCat(metric.resource, " of container ", metric.container);
    case MetricType::kObject:
      return absl::StrCat(metric.metric.name, selector, " of ", metric.described_object.kind, " ",
                          metric.described_object.name);
    case MetricType::kPods:
    case MetricType::kExternal: return absl::StrCat(metric.metric.name, selector);
    case MetricType::kUnknown: break;
  }
  return metric.type_text;
}

}  // namespace flyball::scaler
