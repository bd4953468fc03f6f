#include "adapter/value_guard.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "spdlog/spdlog.h"

namespace flyball::adapter {

std::optional<int64_t> ValueGuard::ToMilli(double value, absl::string_view api,
                                           absl::string_view metric) {
  if (std::isnan(value)) {
    if (nan_value_ == NanValue::kZero) return 0;
    return Unknown(value, "nan", api, metric);
  }
  const double milli = value * 1000.0;
  // 2^63 is exact as a double. INT64_MIN itself is what the original makes of anything too large.
  constexpr double kTooLarge = 9223372036854775808.0;
  if (!(std::abs(milli) < kTooLarge)) return Unknown(value, "infinite", api, metric);
  return GoInt64(milli);
}

std::optional<int64_t> ValueGuard::Unknown(double value, absl::string_view reason,
                                           absl::string_view api, absl::string_view metric) {
  if (metrics_ != nullptr) metrics_->OnValueDropped(api, reason);
  if (warnings_.Due(absl::StrCat(api, "/", metric))) {
    spdlog::warn("{} metric {}: the value {} is not a number that can be answered; left out",
                 std::string(api), std::string(metric), value);
  }
  return std::nullopt;
}

}  // namespace flyball::adapter
