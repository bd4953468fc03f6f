// Shows numbers to people: with units, and with no more digits than needed.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// At most `decimals` digits after the point, without zeros at the end: 1.5333, 40, -0.25.
std::string ShowNumber(double number, int decimals = 4);

// An amount in the metric's unit: "0.95 cores", "93.4 MiB", "17.5".
std::string ShowAmount(double milli, const MetricSpec& metric);
template <typename Integer>
std::string ShowAmount(Integer milli, const MetricSpec& metric) {
  return ShowAmount(static_cast<double>(milli), metric);
}

// "14s", "2m5s", "3h12m".
std::string ShowAge(absl::Duration age);

// RFC 3339 in UTC.
std::string ShowTime(absl::Time time);

// "1 pod", "3 pods".
std::string ShowCount(int64_t count, absl::string_view noun);

// The metric's name for people: "cpu", "memory of container app", "queue_depth{queue=jobs}".
std::string ShowMetricName(const MetricSpec& metric);

}  // namespace flyball::scaler
