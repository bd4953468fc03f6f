// The ConfigMap config-autoscaler: the settings of revisions that have no annotations for them.
//
// Pure. Source: Knative Serving v0.51.0 pkg/autoscaler/config/config.go; knative.dev/pkg
// configmap/parser (Go's strconv and time.ParseDuration).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace flyball::scaler::knative {

using TextMap = std::map<std::string, std::string>;

inline constexpr char kKpaClass[] = "kpa.autoscaling.knative.dev";
inline constexpr char kHpaClass[] = "hpa.autoscaling.knative.dev";
inline constexpr double kSmallestTarget = 0.01;
inline constexpr absl::Duration kShortestWindow = absl::Seconds(6);
inline constexpr absl::Duration kLongestWindow = absl::Hours(1);

struct Config {
  double container_concurrency_target_fraction = 0.7;  // written as percent, or as a fraction
  double container_concurrency_target_default = 100;
  double requests_per_second_target_default = 200;
  double rps_target_utilization = 0.7;  // no key sets it
  double target_burst_capacity = 211;
  double activator_capacity = 100;
  double max_scale_up_rate = 1000;
  double max_scale_down_rate = 2;
  double panic_window_percentage = 10;
  double panic_threshold_percentage = 200;
  absl::Duration stable_window = absl::Seconds(60);
  absl::Duration scale_down_delay;
  absl::Duration scale_to_zero_grace_period = absl::Seconds(30);
  absl::Duration scale_to_zero_pod_retention_period;
  std::string pod_autoscaler_class = kKpaClass;
  bool enable_scale_to_zero = true;
  bool allow_zero_initial_scale = false;
  int32_t initial_scale = 1;
  int32_t min_scale = 0;
  int32_t max_scale = 0;        // 0: none
  int32_t max_scale_limit = 0;  // 0: none

  // From the ConfigMap config-deployment: how long a revision's first pods may take to become
  // ready.
  absl::Duration progress_deadline = absl::Seconds(600);
};

// The defaults, changed by what the map sets. Unknown keys are ignored.
//   kInvalidArgument  a value does not parse or is out of its range: the caller ignores the whole
//                     map and keeps the settings that it had
absl::StatusOr<Config> ReadConfig(const TextMap& data);

}  // namespace flyball::scaler::knative
