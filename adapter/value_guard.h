// Converts a sample's value to the milli-units of an answer, or to "unknown".
//
// Thread-safe. Source: prometheus-adapter 0.12.0: value * 1000 as a double, cut toward zero; NaN is
// 0. Differs on purpose: what does not fit an int64 of milli-units, infinities included, is unknown
// instead of a huge negative number; with kDrop NaN is unknown too; an external metric's NaN is 0
// as well. Unknown values are counted, and a warning is logged once a minute for each metric.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "adapter/metrics.h"
#include "base/clock.h"
#include "base/log_limiter.h"

namespace flyball::adapter {

enum class NanValue { kZero, kDrop };

class ValueGuard {
 public:
  // Both outlive this; `metrics` may be nullptr.
  ValueGuard(NanValue nan_value, Clock& clock, AdapterMetrics* metrics)
      : nan_value_(nan_value), metrics_(metrics), warnings_(clock, absl::Minutes(1)) {}

  // `api` is "custom", "external" or "resource".
  std::optional<int64_t> ToMilli(double value, absl::string_view api, absl::string_view metric);

  // Whether NaN counts as a number, which is 0.
  bool counts_nan() const { return nan_value_ == NanValue::kZero; }

 private:
  std::optional<int64_t> Unknown(double value, absl::string_view reason, absl::string_view api,
                                 absl::string_view metric);

  const NanValue nan_value_;
  AdapterMetrics* const metrics_;
  LogLimiter warnings_;
};

}  // namespace flyball::adapter
