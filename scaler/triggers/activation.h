// Leaving and entering zero replicas: what the replica math cannot do, since nothing can be
// averaged over no pods.
//
// Pure. Source: KEDA 2.20 scale executor (specified order of its cases); fallback of KEDA with the
// differences named in ARCHITECTURE.md.
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
  absl::Duration cooldown;
  std::optional<absl::Time> last_active;
  absl::Time created;  // of the autoscaler
  absl::Time now;
};

enum class ActivationStep {
  kFollowMetrics,  // the replica math decides (between 1 and max)
  kActivate,       // 0 -> max(min, 1)
  kWait,           // inactive, cooling down, or unknown: keep what is there
  kDeactivate,     // -> 0
};

struct Activation {
  ActivationStep step = ActivationStep::kFollowMetrics;
  int32_t replicas = 0;  // of kActivate and kDeactivate
  bool active = false;
  std::optional<absl::Time> last_active;  // to be kept
  std::string reason;                     // for the event, the condition and the explanation
};

Activation DecideActivation(const ActivationInput& input);

}  // namespace flyball::scaler
