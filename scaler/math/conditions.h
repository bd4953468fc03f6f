// Sets a condition as the controller does.
//
// Pure. Source: Kubernetes v1.34.4 horizontal.go (setConditionInList).
#pragma once

#include <initializer_list>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

inline constexpr absl::string_view kAbleToScale = "AbleToScale";
inline constexpr absl::string_view kScalingActive = "ScalingActive";
inline constexpr absl::string_view kScalingLimited = "ScalingLimited";

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

}  // namespace flyball::scaler
