// Leaving and entering zero replicas, which the replica math cannot do, since it averages over
// pods.
//
// Pure. The first row that fits counts; n is above 0:
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
// (*) or more, up to max, if a trigger counts replicas itself (TriggerReading::replicas): it knows
// how much is waiting, and with a single pod part of that would have to wait a second time.
//
// So while there are pods the replica math keeps deciding, also during the cooldown and while a
// trigger is unknown (it does not shrink on an unknown reading); only kDeactivate removes the last
// pods. A trigger that reports only activity (TriggerReading::activity_only) is not unknown here.
//
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
  int32_t min_replicas = 0;                   // 0: zero replicas may be entered
  int32_t max_replicas = 0;                   // bounds kActivate's replicas; below 1: no bound
  absl::Duration cooldown;
  std::optional<absl::Time> last_active = {};
  absl::Time created;  // of the autoscaler
  absl::Time now;
};

enum class ActivationStep {
  kFollowMetrics,  // the replica math decides (between max(min, 1) and max)
  kActivate,       // 0 -> max(min, 1)
  kWait,           // there are zero replicas, and no reason to leave zero
  kDeactivate,     // -> 0
};

struct Activation {
  ActivationStep step = ActivationStep::kFollowMetrics;
  int32_t replicas = 0;  // to be written; with kActivate and kDeactivate
  bool active = false;
  std::optional<absl::Time> last_active = {};  // for the next decision's input
  std::string reason = {};   // a word: ScalerActive, ScalerNotActive, ScalerCooldown, TriggerError
  std::string message = {};  // why, for the event, the condition and the explanation
  std::optional<FrontReadiness> front = {};  // of the http trigger, if there is one
};

Activation DecideActivation(const ActivationInput& input);

// The time of the last activity, for a replica that takes over. `stored` is that of the status,
// which may be too old: it is written when activity ends, but only now and then while activity
// lasts, and its writer may have died before it wrote. So if a trigger may have been active since
// then (`maybe_active`), `now` counts as the last activity. Otherwise the end of the stored second
// counts, since a status has whole seconds. Zero is therefore never entered earlier than the
// cooldown after the true last activity; after a take-over it may be entered later, by the time
// between the true last activity and the take-over, or by a second.
std::optional<absl::Time> TakeOverActivity(std::optional<absl::Time> stored, bool maybe_active,
                                           absl::Time now);

}  // namespace flyball::scaler
