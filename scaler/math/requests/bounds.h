// The bounds of a wanted count, and the number of activators in front of the pods.
//
// Pure. Source: Knative Serving v0.51.0 pkg/reconciler/autoscaling/kpa (scaler.go, kpa.go).
#pragma once

#include <cmath>
#include <cstdint>

#include "base/go/arithmetic.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler {

// `max` 0: none. The lower bound wins.
inline int32_t WithinBounds(int32_t min, int32_t max, int32_t count) {
  if (count < min) return min;
  return max != 0 && count > max ? max : count;
}

inline constexpr int32_t kFewestActivators = 2;

// How many activators are needed to carry the capacity of the ready pods plus the burst.
inline int32_t ActivatorCount(const RequestSettings& settings, int32_t ready) {
  const double burst = settings.target_burst_capacity;
  if (burst == 0) return kFewestActivators;
  double capacity = static_cast<double>(ready) * settings.total;
  if (burst > 0) capacity += burst;
  const double count = std::ceil(capacity / settings.activator_capacity);
  return GoInt32(GoMax(kFewestActivators, count));
}

}  // namespace flyball::scaler
