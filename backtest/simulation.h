// Simulates what an autoscaler would have done with past load.
//
// Pure. The running scaler's decider decides at each moment, with the count and the state of the
// previous simulated moment, so that windows and policies work as in a cluster. The autoscaler's
// schedules set bounds, targets and pauses for each moment. The total of each metric is the real
// one, and the simulated pods share it equally. Pods are ready at once. A total that depends on the
// number of pods, like the length of a queue, comes from the real number and not from the simulated
// one.
//
// Units: totals are in units of the metric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/math/math_config.h"
#include "scaler/math/pods.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/schedules.h"

namespace flyball::backtest {

// The totals of each metric at the same moments, at intervals of `step`.
struct History {
  absl::Time begin;
  absl::Duration step;
  size_t moments = 0;
  // For each of the autoscaler's metrics, in their order, `moments` totals; nullopt: unknown.
  std::vector<std::vector<std::optional<double>>> totals;

  absl::Time At(size_t moment) const { return begin + static_cast<int64_t>(moment) * step; }
};

struct Simulated {
  struct Change {
    absl::Time at;
    int32_t from = 0, to = 0;
    std::string reason;  // scaler/views/limiting_reason.h
    std::string metric;  // the metric that decided; "" if none did
  };
  std::vector<Change> changes;
  int32_t lowest = 0, highest = 0;  // replicas
  double replica_hours = 0;
  absl::Duration at_max;        // time with maxReplicas
  absl::Duration not_followed;  // time in which no metric was known, so that the count was held
};

struct SimulationInput {
  const scaler::Autoscaler& autoscaler;  // as it is written
  const scaler::MathConfig& config;
  const scaler::Pod& pod;  // all pods have its requests
  scaler::Schedules schedules = {};
  int32_t first = 1;  // replicas at the beginning
};

Simulated Simulate(const SimulationInput& input, const History& history);

}  // namespace flyball::backtest
