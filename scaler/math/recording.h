// Edits of a decision that deciders make, and whoever tells it what became of a write.
//
// Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/math/conditions.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

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

// How errors call the target: "Deployment/prod/web".
std::string TargetText(const Autoscaler& autoscaler);

// Rebuilds the status as upstream does: observedGeneration is lost, conditions are kept.
void RebuildStatus(const DecisionInput& input, int32_t desired, Decision& decision);

// The reconcile ends in `error`, whatever becomes of the status write.
void EndInError(const DecisionInput& input, std::string error, Decision& decision);

}  // namespace flyball::scaler
