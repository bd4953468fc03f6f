// The formulas that turn samples or totals into a count of replicas, and the groups of pods that
// decide how samples count.
//
// Pure. Each formula fills the numbers, formula, verdict and replicas of a proposal whose tolerance
// and target the caller has set. Sums and divisions wrap and truncate as Go's do on amd64
// (base/go/arithmetic.h), so an absurd reading may propose INT32_MIN; the guard of the loop keeps
// such readings out.
//
// Source:  Kubernetes v1.34.4 and v1.37.1 replica_calculator.go (calcPlainMetricReplicas,
//          GetResourceReplicas, GetObjectMetricReplicas, GetObjectPerPodMetricReplicas,
//          GetExternalMetricReplicas, GetExternalPerPodMetricReplicas, getUsageRatioReplicaCount,
//          getReadyPodsCount, groupPods, removeMetricsForPods) and metrics/utilization.go.
// Error:   kFailedPrecondition when no proposal can be made; upstream's text.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/math/pods.h"
#include "scaler/math/reconcile.h"

namespace flyball::scaler {

struct GroupQuery {
  const PodTable& table;
  absl::Span<const PodSample> samples;
  const RequestColumn* requests;  // nullptr: requests are not summed
  bool judge_readiness;           // cpu: young and never-ready pods do not count
  const MathConfig& config;
  absl::Time now;
};

// Counts and sums of the samples that are left when those of ignored and unready pods are dropped.
struct UsableSamples {
  GroupCounts counts;
  int64_t sum_milli = 0;        // ready pods and strangers
  int64_t ready_sum_milli = 0;  // ready pods
  int64_t ready_requests_milli = 0;
  absl::Time valid_until = absl::InfiniteFuture();  // until then time alone changes no group

  int64_t count() const { return counts.ready + counts.strangers; }
};

// Sorts pods into ready, unready, missing and ignored, and sums the samples that count
// (pod_groups.cc). Leaves each row's group in workspace.groups.
UsableSamples GroupPods(const GroupQuery& query, Workspace& workspace);

// ---- from one sample for each pod (pod_proposal.cc) ---------------------------------------------
// `current` is the scale's spec.replicas, which a held proposal keeps.

// Target: proposal.target_milli, a mean for each pod.
absl::Status ProposeFromMean(const GroupQuery& query, int32_t current, Workspace& workspace,
                             Proposal& proposal);

// Target: proposal.target_utilization, percent of the requests; query.requests must be set.
absl::Status ProposeFromUtilization(const GroupQuery& query, int32_t current, Workspace& workspace,
                                    Proposal& proposal);

// ---- from one total: an Object's amount, or the sum of an External metric's series --------------
// (total_proposal.cc). The target is proposal.target_milli.

struct TotalQuery {
  absl::Span<const int64_t> amounts_milli;
  const PodTable& table;
  int32_t current;  // spec.replicas
  bool saturates;   // MathConfig::saturates
};

// Target Value: the total against the target, for each ready pod.
absl::Status ProposeFromTotal(const TotalQuery& query, Proposal& proposal);

// Target AverageValue: the total divided by the target. `current` is status.replicas. For External
// metrics a negative partial sum counts as an overflow and the total is capped; not so for Object
// metrics.
void ProposeFromTotalPerReplica(absl::Span<const int64_t> amounts_milli, bool external,
                                int32_t current, Proposal& proposal);

}  // namespace flyball::scaler
