// Leaving and entering zero replicas: what the replica math cannot do, since nothing can be
// averaged over no pods.
//
// Pure. Of these rows the first that fits counts:
//
//   | triggers                          | replicas | step           | replicas written |
//   |-----------------------------------|----------|----------------|------------------|
//   | any active                        | 0        | kActivate      | max(min, 1) (*)  |
//   | any active                        | n        | kFollowMetrics |                  |
//   | none active, one unknown          | 0        | kWait          |                  |
//   | none active, one unknown          | n        | kFollowMetrics |                  |
//   | none active                       | 0 < min  | kActivate      | min              |
//   | none active                       | 0 = min  | kWait          |                  |
//   | none active, min 0, cooldown over | n        | kDeactivate    | 0                |
//   | none active                       | n        | kFollowMetrics |                  |
//
// (*) or more, up to max, where a trigger counts replicas by itself (TriggerReading::replicas): it
// knows how much waits, and a wake to one pod would be a second wait.
//
// So while there are pods the replica math goes on deciding, during the cooldown and while a
// trigger is unknown (by itself it does not shrink on an unknown reading); only kDeactivate takes
// the last pods.
// Source:  KEDA 2.20 scale executor.
// Differs: an active trigger counts as activity although another one fails; while a trigger is
//          unknown zero is never entered, unless its fallback already counts (fallback.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "scaler/spec/own_spec.h"
#include "scaler/triggers/trigger.h"

namespace flyball::scaler {

struct ActivationInput {
  absl::Span<const TriggerReading> readings;  // of all triggers; not empty
  int32_t current = 0;                        // spec.replicas of the scale
  int32_t min_replicas = 0;                   // 0 may be entered
  int32_t max_replicas = 0;                   // the most that is woken to; below 1: no bound
  absl::Duration cooldown;
  std::optional<absl::Time> last_active = {};
  absl::Time created;  // of the autoscaler
  absl::Time now;
};

enum class ActivationStep {
  kFollowMetrics,  // the replica math decides (between max(min, 1) and max)
  kActivate,       // 0 -> max(min, 1)
  kWait,           // at zero, and nothing says to leave it
  kDeactivate,     // -> 0
};

struct Activation {
  ActivationStep step = ActivationStep::kFollowMetrics;
  int32_t replicas = 0;  // to be written; of kActivate and kDeactivate
  bool active = false;
  std::optional<absl::Time> last_active = {};  // to be kept
  std::string reason = {};   // a word: ScalerActive, ScalerNotActive, ScalerCooldown, TriggerError
  std::string message = {};  // why, for the event, the condition and the explanation
  std::optional<FrontReadiness> front = {};  // of the trigger whose requests are carried
};

Activation DecideActivation(const ActivationInput& input);

// The time of the last activity for a replica that takes over: `stored` is what the status says.
// That gets the time when activity ends, but while activity lasts only now and then, and by the
// clock of its writer, which may have died before it wrote. So where a trigger may have been active
// since (`maybe_active`) `now` counts as its last activity. Zero is therefore never entered before
// the cooldown after the true last activity; after a take-over it may be entered later, by the time
// between the true last activity and the take-over.
std::optional<absl::Time> TakeOverActivity(std::optional<absl::Time> stored, bool maybe_active,
                                           absl::Time now);

}  // namespace flyball::scaler
