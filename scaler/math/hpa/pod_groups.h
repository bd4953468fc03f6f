// Sorts pods into ready, unready, missing and ignored, and sums the samples that count.
//
// Pure. Source: Kubernetes v1.34.4 replica_calculator.go (groupPods, removeMetricsForPods) and
// metrics/utilization.go.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
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

// Leaves each row's group in workspace.groups.
UsableSamples GroupPods(const GroupQuery& query, Workspace& workspace);

}  // namespace flyball::scaler
