// What an autoscaler would have done with the load of a time that is over.
//
// Pure. The decider of the running scaler decides at each moment, on its own count of the moment
// before and with all that it remembers; windows and policies act as they do in a cluster. The load
// is taken as it was: the total of a metric, which is divided by the pods that the simulation has
// then. Pods are ready at once, and a total does not depend on how many there are: what grows with
// too few of them, as a queue does, was made by the count of then and not by the simulated one.
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

namespace flyball::backtest {

// The totals of each metric at the same moments, `step` apart.
struct History {
  absl::Time begin;
  absl::Duration step;
  size_t moments = 0;
  // Beside the autoscaler's metrics, `moments` of each; nullopt: it is not known of then.
  std::vector<std::vector<std::optional<double>>> totals;

  absl::Time At(size_t moment) const { return begin + static_cast<int64_t>(moment) * step; }
};

struct Simulated {
  struct Change {
    absl::Time at;
    int32_t from = 0, to = 0;
    std::string reason;  // scaler/views/limiting_reason.h
    std::string metric;  // the one that decided; "": none did
  };
  std::vector<Change> changes;
  int32_t lowest = 0, highest = 0;  // replicas
  double replica_hours = 0;
  absl::Duration at_max;        // with as many replicas as there may be
  absl::Duration not_followed;  // no metric was known, and the count was held
};

struct SimulationInput {
  const scaler::Autoscaler& autoscaler;
  const scaler::MathConfig& config;
  const scaler::Pod& pod;  // each pod is like this one: what it requests
  int32_t first = 1;       // replicas at the beginning
};

Simulated Simulate(const SimulationInput& input, const History& history);

}  // namespace flyball::backtest
