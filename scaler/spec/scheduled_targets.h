// The targets of metrics and triggers by time: what a schedule's `targets` name, and how they are
// put into a spec.
//
// Pure. A name is that of the metric (`queue_length`), of a resource (`cpu`), of a resource of one
// container (`main/cpu`), or the `name` of a trigger. An amount is of the kind of the target that
// it replaces: whole percent, or a quantity; of a trigger a number as it stands in its metadata.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/spec/autoscaler.h"
#include "scaler/spec/own_spec.h"

namespace flyball::scaler {

// The key of a trigger's metadata that is its target; "" for a type whose target is not the spec's.
absl::string_view TargetKeyOf(absl::string_view trigger_type);

// "" or what is wrong with it in this spec.
std::string TargetProblem(const ScheduledTarget& target, const std::vector<MetricSpec>& metrics,
                          const std::vector<TriggerSpec>& triggers);

// The targets have no problem.
void SetTargets(const std::vector<ScheduledTarget>& targets, std::vector<MetricSpec>& metrics,
                std::vector<TriggerSpec>& triggers);

}  // namespace flyball::scaler
