#include "scaler/spec/knative/config.h"

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/go/duration.h"
#include "base/go/number.h"
#include "base/status_macros.h"

namespace flyball::scaler::knative {
namespace {

absl::Status Refuse(absl::string_view message) { return absl::InvalidArgumentError(message); }

std::optional<absl::Duration> Duration(absl::string_view text) {
  const absl::StatusOr<absl::Duration> duration = go::ParseDuration(text);
  if (!duration.ok()) return std::nullopt;
  return *duration;
}

std::optional<std::string> Trimmed(absl::string_view text) {
  return std::string(absl::StripAsciiWhitespace(text));
}

// Reads keys of the map until one does not parse.
class KeyReader {
 public:
  explicit KeyReader(const TextMap& data) : data_(data) {}

  template <typename Value, typename Parse>
  void Read(const char* key, Value& to, Parse parse) {
    const auto found = data_.find(key);
    if (!status_.ok() || found == data_.end()) return;
    const std::optional<Value> value = parse(found->second);
    if (value.has_value()) {
      to = *value;
    } else {
      status_ = Refuse(absl::StrCat("failed to parse \"", key, "\": ", found->second));
    }
  }

  const absl::Status& status() const { return status_; }

 private:
  const TextMap& data_;
  absl::Status status_;
};

absl::Status ReadKeys(const TextMap& data, Config& config) {
  KeyReader keys(data);
  keys.Read("pod-autoscaler-class", config.pod_autoscaler_class, Trimmed);
  keys.Read("enable-scale-to-zero", config.enable_scale_to_zero, go::ParseBool);
  keys.Read("allow-zero-initial-scale", config.allow_zero_initial_scale, go::ParseBool);
  keys.Read("max-scale-up-rate", config.max_scale_up_rate, go::ParseFloat);
  keys.Read("max-scale-down-rate", config.max_scale_down_rate, go::ParseFloat);
  keys.Read("container-concurrency-target-percentage", config.container_concurrency_target_fraction,
            go::ParseFloat);
  keys.Read("container-concurrency-target-default", config.container_concurrency_target_default,
            go::ParseFloat);
  keys.Read("requests-per-second-target-default", config.requests_per_second_target_default,
            go::ParseFloat);
  keys.Read("target-burst-capacity", config.target_burst_capacity, go::ParseFloat);
  keys.Read("panic-window-percentage", config.panic_window_percentage, go::ParseFloat);
  keys.Read("activator-capacity", config.activator_capacity, go::ParseFloat);
  keys.Read("panic-threshold-percentage", config.panic_threshold_percentage, go::ParseFloat);
  keys.Read("initial-scale", config.initial_scale, go::ParseDecimal32);
  keys.Read("min-scale", config.min_scale, go::ParseDecimal32);
  keys.Read("max-scale", config.max_scale, go::ParseDecimal32);
  keys.Read("max-scale-limit", config.max_scale_limit, go::ParseDecimal32);
  keys.Read("stable-window", config.stable_window, Duration);
  keys.Read("scale-down-delay", config.scale_down_delay, Duration);
  keys.Read("scale-to-zero-grace-period", config.scale_to_zero_grace_period, Duration);
  keys.Read("scale-to-zero-pod-retention-period", config.scale_to_zero_pod_retention_period,
            Duration);
  return keys.status();
}

bool WholeSeconds(absl::Duration duration) {
  return absl::Trunc(duration, absl::Seconds(1)) == duration;
}

absl::Status CheckDurations(const Config& config) {
  if (config.scale_to_zero_grace_period <= absl::ZeroDuration()) {
    return Refuse(absl::StrCat("scale-to-zero-grace-period must be positive, was: ",
                               go::DurationText(config.scale_to_zero_grace_period)));
  }
  if (config.scale_down_delay < absl::ZeroDuration()) {
    return Refuse(absl::StrCat("scale-down-delay cannot be negative, was: ",
                               go::DurationText(config.scale_down_delay)));
  }
  if (!WholeSeconds(config.scale_down_delay)) {
    return Refuse(absl::StrCat("scale-down-delay = ", go::DurationText(config.scale_down_delay),
                               ", must be specified with at most second precision"));
  }
  if (config.scale_to_zero_pod_retention_period < absl::ZeroDuration()) {
    return Refuse(absl::StrCat("scale-to-zero-pod-retention-period cannot be negative, was: ",
                               go::DurationText(config.scale_to_zero_pod_retention_period)));
  }
  if (config.stable_window < kShortestWindow || config.stable_window > kLongestWindow) {
    return Refuse(absl::StrCat("stable-window = ", go::DurationText(config.stable_window),
                               ", must be in [", go::DurationText(kShortestWindow), "; ",
                               go::DurationText(kLongestWindow), "] range"));
  }
  if (!WholeSeconds(config.stable_window)) {
    return Refuse(absl::StrCat("stable-window = ", go::DurationText(config.stable_window),
                               ", must be specified with at most second precision"));
  }
  return absl::OkStatus();
}

// Each comparison lets NaN pass, as the original's do.
absl::Status CheckTargets(const Config& config) {
  if (config.target_burst_capacity < 0 && config.target_burst_capacity != -1) {
    return Refuse(absl::StrCat(
        "target-burst-capacity must be either non-negative or -1 (for unlimited), was: ",
        config.target_burst_capacity));
  }
  const double fraction = config.container_concurrency_target_fraction;
  if (fraction <= 0 || fraction > 1) {
    return Refuse(absl::StrCat("container-concurrency-target-percentage = ", fraction,
                               " is outside of valid range of (0, 100]"));
  }
  const double target = fraction * config.container_concurrency_target_default;
  if (target < kSmallestTarget) {
    return Refuse(absl::StrCat(
        "container-concurrency-target-percentage and container-concurrency-target-default yield "
        "target concurrency of ",
        target, ", can't be less than ", kSmallestTarget));
  }
  if (config.requests_per_second_target_default < kSmallestTarget) {
    return Refuse(absl::StrCat("requests-per-second-target-default must be at least ",
                               kSmallestTarget,
                               ", was: ", config.requests_per_second_target_default));
  }
  if (config.activator_capacity < 1) {
    return Refuse(
        absl::StrCat("activator-capacity = ", config.activator_capacity, ", must be at least 1"));
  }
  if (config.max_scale_up_rate <= 1) {
    return Refuse(absl::StrCat("max-scale-up-rate = ", config.max_scale_up_rate,
                               ", must be greater than 1.0"));
  }
  if (config.max_scale_down_rate <= 1) {
    return Refuse(absl::StrCat("max-scale-down-rate = ", config.max_scale_down_rate,
                               ", must be greater than 1.0"));
  }
  if (config.panic_window_percentage < 1 || config.panic_window_percentage > 100) {
    return Refuse(absl::StrCat("panic-window-percentage = ", config.panic_window_percentage,
                               ", must be in [1, 100] interval"));
  }
  return absl::OkStatus();
}

absl::Status CheckScales(const Config& config) {
  if (config.initial_scale < 0 || (config.initial_scale == 0 && !config.allow_zero_initial_scale)) {
    return Refuse(absl::StrCat(
        "initial-scale = ", config.initial_scale,
        ", must be at least 0 (or at least 1 when allow-zero-initial-scale is false)"));
  }
  if (config.min_scale < 0) {
    return Refuse(absl::StrCat("min-scale = ", config.min_scale, ", must be at least 0"));
  }
  const int32_t limit = config.max_scale_limit;
  const int32_t smallest_max = limit > 0 ? 1 : 0;
  if (config.max_scale < smallest_max || (limit > 0 && config.max_scale > limit)) {
    return Refuse(absl::StrCat("max-scale = ", config.max_scale, ", must be in [", smallest_max,
                               ", max-scale-limit(", limit, ")] range"));
  }
  if (limit < 0) return Refuse(absl::StrCat("max-scale-limit = ", limit, ", must be at least 0"));
  if (config.max_scale > 0 && config.min_scale > config.max_scale) {
    return Refuse(absl::StrCat("min-scale (", config.min_scale, ") must be less than max-scale (",
                               config.max_scale, ")"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Config> ReadConfig(const TextMap& data) {
  Config config;
  RETURN_IF_ERROR(ReadKeys(data, config));
  double& fraction = config.container_concurrency_target_fraction;
  if (fraction > 1) fraction /= 100;
  RETURN_IF_ERROR(CheckDurations(config));
  RETURN_IF_ERROR(CheckTargets(config));
  RETURN_IF_ERROR(CheckScales(config));
  return config;
}

}  // namespace flyball::scaler::knative
