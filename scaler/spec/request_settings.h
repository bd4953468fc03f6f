// The settings of scaling by requests for one target, with all defaults filled in.
//
// Plain values, compiled from Knative's annotations (knative/settings.h) for the math
// (math/requests). Rates and thresholds are factors, not percent.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace flyball::scaler {

inline constexpr char kConcurrencyMetric[] = "concurrency";
inline constexpr char kRpsMetric[] = "rps";

struct RequestSettings {
  std::string metric = kConcurrencyMetric;  // any text but "rps" means concurrency
  double target = 70;                       // what to aim for at each pod
  double total = 100;                       // what a pod can take

  double max_scale_up_rate = 1000;
  double max_scale_down_rate = 2;
  double panic_threshold = 2;
  // Number of additional requests that the ready pods keep room for; 0: none, -1: without limit.
  double target_burst_capacity = 211;
  double activator_capacity = 100;

  absl::Duration stable_window = absl::Seconds(60);
  absl::Duration panic_window = absl::Seconds(6);
  absl::Duration scale_down_delay;
  bool weighted = false;  // averages weigh the newest second most

  int32_t initial_scale = 1;
  int32_t activation_scale = 0;  // the floor of a scale that is not zero; up to 1: none
  int32_t min_scale = 0;
  int32_t max_scale = 0;  // 0: none
  bool reachable = true;  // a route sends requests to the revision

  bool enable_scale_to_zero = true;
  absl::Duration scale_to_zero_grace_period = absl::Seconds(30);
  absl::Duration pod_retention;  // how long the last pod stays when there is no traffic
  absl::Duration progress_deadline = absl::Seconds(600);

  // If the burst capacity has no limit, all requests pass the activator, which counts them.
  bool scrapes_pods() const { return target_burst_capacity != -1; }
};

}  // namespace flyball::scaler
