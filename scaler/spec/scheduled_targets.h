// The targets of metrics and triggers by time: what the `targets` of a schedule name, and how they
// replace those of the spec.
//
// Pure. A name is that of a metric (`queue_length`), of a resource (`cpu`), of a resource of one
// container (`main/cpu`), or the `name` of a trigger. An amount has the form of the target that it
// replaces: a whole percentage, a quantity, or for a trigger a number as its metadata have it.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// The key of the target among a trigger's metadata; "" for a type whose target is not in the spec.
absl::string_view TargetKeyOf(absl::string_view trigger_type);

// Why the target does not fit this spec; "" if it does.
std::string TargetProblem(const ScheduledTarget& target, const std::vector<MetricSpec>& metrics,
                          const std::vector<TriggerSpec>& triggers);

// Puts the targets into the spec. TargetProblem must have returned "" for each of them.
void SetTargets(const std::vector<ScheduledTarget>& targets, std::vector<MetricSpec>& metrics,
                std::vector<TriggerSpec>& triggers);

}  // namespace flyball::scaler
