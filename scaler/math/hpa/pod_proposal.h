// Proposals from one sample for each pod: the mean against a target amount, or the share of the
// request against a target percentage.
//
// Pure. Sums and divisions wrap and cut as Go's do on amd64 (base/go/arithmetic.h); an absurd
// reading may therefore propose INT32_MIN. The guard of the loop keeps such readings out.
//
// Source:  Kubernetes v1.34.4 replica_calculator.go (calcPlainMetricReplicas, GetResourceReplicas)
//          and metrics/utilization.go.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "scaler/math/decision.h"
#include "scaler/math/hpa/pod_groups.h"

namespace flyball::scaler {

// Both fill the numbers, formula, verdict and replicas of `proposal`, whose tolerance is set by the
// caller. `current` is the scale's spec.replicas, which a held proposal keeps.
//   kFailedPrecondition  no proposal can be made; upstream's text

// Target: proposal.target_milli, a mean for each pod.
absl::Status ProposeFromMean(const GroupQuery& query, int32_t current, Workspace& workspace,
                             Proposal& proposal);

// Target: proposal.target_utilization, percent of the requests; query.requests must be set.
absl::Status ProposeFromUtilization(const GroupQuery& query, int32_t current, Workspace& workspace,
                                    Proposal& proposal);

}  // namespace flyball::scaler
