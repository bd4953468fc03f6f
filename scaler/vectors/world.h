// The cluster of a scenario: what its ticks changed, and how its API answers.
//
// Not thread-safe; no I/O. Not here: the decisions (replay.h).
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/math/input.h"
#include "scaler/math/pods.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/vectors/scenario.h"

namespace flyball::scaler {

class World {
 public:
  // Takes the autoscaler and its rivals. The autoscaler outlives the world; its spec may be
  // replaced in between.
  World(const Scenario& scenario, const Autoscaler& autoscaler);

  // What the tick changes before the autoscaler is reconciled.
  void Apply(const Tick& tick);

  // The target's scale as the API answers.
  ScaleAnswer ReadScale(const Tick& tick);

  // The pods of the scale's selector. The table lives until the next call.
  PodsAnswer ReadPods(const Tick& tick, const MathConfig& config);

  // What every metric says; the pods must have been read.
  std::vector<Reading> ReadMetrics(const Tick& tick) const;

  // Writes the scale, which has been read; "" or the error that the fault word stands for.
  std::string WriteScale(absl::string_view fault, int32_t replicas);

  // The error that a fault word of a status write stands for; "" for none.
  std::string StatusFault(absl::string_view fault) const;

 private:
  const Autoscaler& autoscaler_;
  absl::string_view resource_;  // of the target whose scale was read last
  int32_t spec_replicas_ = 0;
  int32_t status_replicas_ = 0;
  std::string selector_;
  std::vector<Pod> pods_;
  Selectors selectors_;
  PodTable table_;
};

}  // namespace flyball::scaler
