// Small edits of a decision that several steps of the math make.
//
// Pure.
#pragma once

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

}  // namespace flyball::scaler
