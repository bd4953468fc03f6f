// Where scaling by requests may do better than Knative. Each is off unless it is asked for: the
// defaults decide as Knative does, number by number.
//
// Plain values.
#pragma once

#include "absl/time/time.h"

namespace flyball::scaler {

struct RequestOptions {
  // How often the target is evaluated, 200 ms to 2 s. Knative's is 2 s. The windows stay as they
  // are; of the scale-down delay each slot is one tick wide.
  absl::Duration tick = absl::Seconds(2);

  // The notice of a first request belongs to the first whole second that is reported. Knative
  // counts it as a second of its own: of 1000 requests at once it sees (1 + 999 + 1000) / 3.
  bool fold_opening = false;

  // Reports of one source that fall into the same second count as their mean. Knative adds them, so
  // that two that are less than a second apart look like twice the load, and may start a panic
  // (knative/serving issue 6743).
  bool mean_of_repeats = false;

  // Whether there is a panic is measured against the pods that are ready or on their way. Knative
  // knows the ready ones alone, so that slow starters keep it in panic (issue 13284).
  bool count_pending = false;

  // The limit on scaling down starts at the count that was wanted last, if more than that are not
  // ready. Knative starts at the ready pods, so that the count collapses when a panic ends and
  // pods lag (issues 3153, 9121).
  bool limit_down_from_wanted = false;
};

}  // namespace flyball::scaler
