// Functions that edit a decision, for its decider and for recording the outcome of a write.
//
// Pure. Source of SetCondition: Kubernetes v1.34.4 horizontal.go (setConditionInList).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

inline constexpr absl::string_view kAbleToScale = "AbleToScale";
inline constexpr absl::string_view kScalingActive = "ScalingActive";
inline constexpr absl::string_view kScalingLimited = "ScalingLimited";
inline constexpr absl::string_view kScaledToZero = "ScaledToZero";

struct ConditionUpdate {
  absl::string_view type;
  ConditionStatus status = ConditionStatus::kTrue;
  absl::string_view reason;
  std::initializer_list<absl::string_view> message;  // joined
};

// Finds the condition by type or appends it. The transition time moves only when the status value
// changes; reason and message are always overwritten.
void SetCondition(const ConditionUpdate& update, absl::Time now,
                  std::vector<Condition>& conditions);

void RemoveCondition(absl::string_view type, std::vector<Condition>& conditions);

// nullptr: there is none of that type.
const Condition* FindCondition(absl::string_view type, const std::vector<Condition>& conditions);
bool ConditionIsTrue(const AutoscalerStatus& status, absl::string_view type);

// Whether some metric has a meaning for a target without pods.
bool SeesLoadAtZero(const Autoscaler& autoscaler);

inline const AutoscalerStatus& StoredStatus(const DecisionInput& input) {
  return input.status != nullptr ? *input.status : input.autoscaler->status;
}

inline void SetCondition(Decision& decision, const ConditionUpdate& update) {
  SetCondition(update, decision.now, decision.status.conditions);
}

inline void Warn(absl::string_view reason, absl::string_view message, std::vector<Event>& events) {
  events.push_back(
      {.warning = true, .reason = std::string(reason), .message = std::string(message)});
}

// The target's name in errors: "Deployment/prod/web".
std::string TargetText(const Autoscaler& autoscaler);

// Rebuilds the status as upstream does: conditions are kept; observedGeneration is kept or lost
// (MathConfig::observes_generation).
void RebuildStatus(const DecisionInput& input, int32_t desired, Decision& decision);

// Ends the reconcile in `error`, whether or not the status write succeeds.
void EndInError(const DecisionInput& input, std::string error, Decision& decision);

}  // namespace flyball::scaler
