#include "scaler/triggers/parts/metric_value.h"

#include <cmath>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {
namespace {

// Rounds as KEDA does, which prints with %.3f and reads that; `value * 1000` would round twice.
// nullopt: beyond kMaxMetricMilli.
std::optional<int64_t> RoundedMilli(double value) {
  if (!(value * 1000 <= static_cast<double>(kMaxMetricMilli))) return std::nullopt;
  int64_t milli = 0;
  const std::string digits = absl::StrReplaceAll(absl::StrFormat("%.3f", value), {{".", ""}});
  if (!absl::SimpleAtoi(digits, &milli)) return std::nullopt;
  return milli;
}

}  // namespace

absl::StatusOr<int64_t> ValueMilli(double value) {
  if (std::isnan(value)) return absl::OutOfRangeError("the value is NaN");
  if (std::isinf(value)) return absl::OutOfRangeError("the value is infinite");
  if (value <= 0) return 0;
  const std::optional<int64_t> milli = RoundedMilli(value);
  if (!milli.has_value()) {
    return absl::OutOfRangeError(absl::StrCat("the value ", value, " is too large"));
  }
  return *milli;
}

absl::StatusOr<int64_t> TargetMilli(double target) {
  if (!(target > 0)) return absl::InvalidArgumentError("must be greater than 0");
  const std::optional<int64_t> milli = RoundedMilli(target);
  if (!milli.has_value()) return absl::InvalidArgumentError("is too large");
  if (*milli == 0) return absl::InvalidArgumentError("must be at least 0.001");
  return *milli;
}

}  // namespace flyball::scaler
