#include "scaler/triggers/metric_value.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace flyball::scaler {

absl::StatusOr<int64_t> ValueMilli(double value) {
  if (std::isnan(value)) return absl::OutOfRangeError("the value is NaN");
  if (std::isinf(value)) return absl::OutOfRangeError("the value is infinite");
  if (value <= 0) return 0;
  const double milli = value * 1000;
  if (!(milli <= static_cast<double>(kMaxMetricMilli))) {
    return absl::OutOfRangeError(absl::StrCat("the value ", value, " is too large"));
  }
  return static_cast<int64_t>(milli);
}

absl::StatusOr<int64_t> TargetMilli(double target) {
  if (!(target > 0)) return absl::InvalidArgumentError("must be greater than 0");
  if (!(target * 1000 <= static_cast<double>(kMaxMetricMilli))) {
    return absl::InvalidArgumentError("is too large");
  }
  // Decimal rounding, as printing with %.3f and reading that does; `target * 1000` would round
  // twice.
  int64_t milli = 0;
  const std::string digits = absl::StrReplaceAll(absl::StrFormat("%.3f", target), {{".", ""}});
  if (!absl::SimpleAtoi(digits, &milli)) return absl::InvalidArgumentError("is too large");
  if (milli == 0) return absl::InvalidArgumentError("must be at least 0.001");
  return milli;
}

}  // namespace flyball::scaler
