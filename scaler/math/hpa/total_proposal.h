// Proposals from one total: an Object's amount, or the sum of an External metric's series.
//
// Pure. Source: Kubernetes v1.34.4 replica_calculator.go (GetObjectMetricReplicas,
// GetObjectPerPodMetricReplicas, GetExternalMetricReplicas, GetExternalPerPodMetricReplicas,
// getUsageRatioReplicaCount, getReadyPodsCount), their overflows included.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "scaler/math/decision.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

// Both fill the numbers, formula, verdict and replicas of `proposal`, whose tolerance and
// target_milli are set by the caller.

// Target Value: the total against the target, for each ready pod. `current` is spec.replicas.
//   kFailedPrecondition  no pod is selected; upstream's text
absl::Status ProposeFromTotal(absl::Span<const int64_t> amounts_milli, const PodTable& table,
                              int32_t current, Proposal& proposal);

// Target AverageValue: the total divided by the target. `current` is status.replicas. External
// totals take a negative partial sum for an overflow, and are capped; Object totals are neither.
void ProposeFromTotalPerReplica(absl::Span<const int64_t> amounts_milli, bool external,
                                int32_t current, Proposal& proposal);

}  // namespace flyball::scaler
