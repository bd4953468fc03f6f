// Turns a count of replicas into the total of an external metric, and predicts what stock HPAs
// decide on a total.
//
// Pure. An HPA computes total / averageValue replicas, rounded up, unless that is within its
// tolerance of the present replicas. One total answers all HPAs that ask for the metric, so it is
// the greatest that one of them needs; it never gives any of them fewer replicas than it has. If
// none needs more there is no total: the metric fails, and each HPA holds.
//
// Source:  Kubernetes v1.37.1 pkg/controller/podautoscaler/replica_calculator.go
//          GetExternalPerPodMetricReplicas.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "adapter/metric_askers.h"
#include "rules/compiled_rules.h"

namespace flyball::adapter {

// In thousandths.
//   kFailedPrecondition  why the metric has to fail instead
absl::StatusOr<int64_t> ReplicasAsTotal(const rules::ReplicasInstead& wanted,
                                        absl::Span<const MetricAsker> askers);

// The name of an HPA whose target would get fewer replicas by that total; "": there is none. It
// counts even if the HPA's tolerance would prevent it.
std::string MadeSmallerBy(double total_milli, absl::Span<const MetricAsker> askers);

}  // namespace flyball::adapter
