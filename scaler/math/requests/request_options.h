// Options by which scaling by requests may do better than Knative. Each is off unless it is asked
// for: with the defaults every number equals Knative's.
//
// Plain values.
#pragma once

#include "absl/time/time.h"

namespace flyball::scaler {

struct RequestOptions {
  // How often the target is evaluated, 200 ms to 2 s. Knative's is 2 s. The windows stay as they
  // are; each slot of the scale-down delay is one tick wide.
  absl::Duration tick = absl::Seconds(2);

  // The notice of a first request counts in the first whole second that is reported. Knative counts
  // it as a second of its own: 1000 requests at once become a mean of (1 + 999 + 1000) / 3.
  bool fold_opening = false;

  // Reports of one source that fall into the same second count as their mean. Knative adds them, so
  // that two that are less than a second apart look like twice the load, and may start a panic
  // (knative/serving issue 6743).
  bool mean_of_repeats = false;

  // Panic is judged by the pods that are ready or starting. Knative uses the ready ones alone, so
  // that slowly starting pods keep it in panic (issue 13284).
  bool count_pending = false;

  // The limit on scaling down starts from the last wanted count, if that is more than the ready
  // pods. Knative starts from the ready pods, so that the count collapses if a panic ends while
  // pods are still starting (issues 3153, 9121).
  bool limit_down_from_wanted = false;
};

}  // namespace flyball::scaler
