// The cluster of a scenario: its state after the ticks, and the answers of its API.
//
// Not thread-safe; no I/O. Pods and rivals are found by the running scaler's index. Not here: the
// decisions (replay.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/math/input.h"
#include "scaler/math/pods.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/stores/pod_index.h"
#include "scaler/vectors/scenario.h"

namespace flyball::scaler {

class World {
 public:
  // Takes the autoscaler and its rivals. The autoscaler must outlive the world; its spec may be
  // replaced meanwhile.
  World(const Scenario& scenario, const Autoscaler& autoscaler);

  // Applies the tick's changes, before the autoscaler is reconciled.
  void Apply(const Tick& tick);

  // The target's scale as the API answers.
  ScaleAnswer ReadScale(const Tick& tick);

  // The pods of the scale's selector. The table is valid until the next call.
  PodsAnswer ReadPods(const Tick& tick, const MathConfig& config);

  // The readings of all metrics; the pods must have been read before.
  std::vector<Reading> ReadMetrics(const Tick& tick) const;

  // Writes the scale, which has been read before. Returns the error that the fault word stands for,
  // or "".
  std::string WriteScale(absl::string_view fault, int32_t replicas);

  // The error that the fault word of a status write stands for, or "".
  std::string StatusFault(absl::string_view fault) const;

 private:
  const Autoscaler& autoscaler_;
  absl::string_view resource_;  // of the target whose scale was read last
  int32_t spec_replicas_ = 0;
  int32_t status_replicas_ = 0;
  std::string selector_;
  std::vector<Pod> pods_;  // in the order in which they came
  PodIndex index_;         // of these
  uint64_t list_ = 0;      // the number of the last tick
  std::shared_ptr<const PodTable> table_ = std::make_shared<const PodTable>();
};

}  // namespace flyball::scaler
