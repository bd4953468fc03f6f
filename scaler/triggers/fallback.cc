#include "scaler/triggers/fallback.h"

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"

namespace flyball::scaler {

TriggerReading ApplyFallback(const FallbackInput& input) {
  const TriggerReading& reading = input.reading;
  if (!reading.failed() || !input.fallback.replicas.has_value() ||
      input.failures <= input.fallback.after_failures) {
    return reading;
  }
  TriggerReading out = reading;
  absl::int128 milli = absl::int128(input.metric.target_milli) * *input.fallback.replicas;
  if (input.metric.target_type == TargetType::kValue && milli != 0) {
    if (input.ready_pods <= 0) {
      out.error = absl::StrCat("no fallback without a ready pod; ", reading.error);
      return out;
    }
    milli /= input.ready_pods;
  }
  if (milli > kMaxMetricMilli) {
    out.error = absl::StrCat("the fallback's value is too large; ", reading.error);
    return out;
  }
  out.error.clear();
  out.value_milli = static_cast<int64_t>(milli);
  out.active |= *input.fallback.replicas > 0;
  return out;
}

}  // namespace flyball::scaler
