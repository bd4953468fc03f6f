// Many proposals -> the largest, or a reason to hold.
//
// Pure. Unknown is not zero: a metric that failed forbids shrinking, and when all failed nothing
// changes.
//
// Source:  Kubernetes v1.34.4 horizontal.go (computeReplicasForMetrics).
#pragma once

#include <cstdint>
#include <vector>

#include "scaler/math/decision.h"

namespace flyball::scaler {

// `current` is the scale's spec.replicas.
Combination Combine(const std::vector<Proposal>& proposals, int32_t current);

}  // namespace flyball::scaler
