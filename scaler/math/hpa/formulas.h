// The formulas by which samples or totals become a count of replicas.
//
// Pure. Each fills the numbers, formula, verdict and replicas of a proposal whose tolerance and
// target the caller has set. Sums and divisions wrap and cut as Go's do on amd64
// (base/go/arithmetic.h); an absurd reading may therefore propose INT32_MIN. The guard of the loop
// keeps such readings out.
//
// Source:  Kubernetes v1.34.4 replica_calculator.go (calcPlainMetricReplicas, GetResourceReplicas,
//          GetObjectMetricReplicas, GetObjectPerPodMetricReplicas, GetExternalMetricReplicas,
//          GetExternalPerPodMetricReplicas, getUsageRatioReplicaCount, getReadyPodsCount) and
//          metrics/utilization.go.
// Error:   kFailedPrecondition when no proposal can be made; upstream's text.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "scaler/math/decision.h"
#include "scaler/math/hpa/pod_groups.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

// From one sample for each pod (pod_proposal.cc). `current` is the scale's spec.replicas, which a
// held proposal keeps.

// Target: proposal.target_milli, a mean for each pod.
absl::Status ProposeFromMean(const GroupQuery& query, int32_t current, Workspace& workspace,
                             Proposal& proposal);

// Target: proposal.target_utilization, percent of the requests; query.requests must be set.
absl::Status ProposeFromUtilization(const GroupQuery& query, int32_t current, Workspace& workspace,
                                    Proposal& proposal);

// From one total: an Object's amount, or the sum of an External metric's series
// (total_proposal.cc). The target is proposal.target_milli.

// Target Value: the total against the target, for each ready pod. `current` is spec.replicas.
absl::Status ProposeFromTotal(absl::Span<const int64_t> amounts_milli, const PodTable& table,
                              int32_t current, Proposal& proposal);

// Target AverageValue: the total divided by the target. `current` is status.replicas. External
// totals take a negative partial sum for an overflow, and are capped; Object totals are neither.
void ProposeFromTotalPerReplica(absl::Span<const int64_t> amounts_milli, bool external,
                                int32_t current, Proposal& proposal);

}  // namespace flyball::scaler
