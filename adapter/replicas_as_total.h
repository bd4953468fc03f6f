// A count of replicas as the total of an external metric, and what stock HPAs make of a total.
//
// Pure. An HPA asks for total / averageValue replicas, rounded up, unless that is within its
// tolerance of the replicas that there are. One total answers all HPAs that ask the same, so it is
// the greatest that one of them needs; it never asks one for fewer than it has. Where none needs
// more there is no total: the metric fails, and each holds.
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

// The name of one whose target would get fewer replicas by that total; "": there is none. What an
// HPA's tolerance holds back counts as well.
std::string MadeSmallerBy(double total_milli, absl::Span<const MetricAsker> askers);

}  // namespace flyball::adapter
