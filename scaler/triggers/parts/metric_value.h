// Converts the values and targets of triggers to thousandths.
//
// Pure. Source: KEDA 2.20: values and targets are rounded to three decimals (0.0004 is 0); a value
// is never negative.
// Differs: NaN and infinity, which KEDA serves as 0, are unknown, unless the trigger's own settings
// say otherwise.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"

namespace flyball::scaler {

// kOutOfRange: NaN, infinite, or beyond kMaxMetricMilli. Negative values are 0.
absl::StatusOr<int64_t> ValueMilli(double value);

// kInvalidArgument: not above zero after rounding, or too large.
absl::StatusOr<int64_t> TargetMilli(double target);

}  // namespace flyball::scaler
