// What each metric is and what it ought to be, in one short line: "17/50, cpu: 82%/60%".
//
// Pure. As kubectl writes the column TARGETS of a HorizontalPodAutoscaler: two metrics, then how
// many more there are; <unknown> while a metric has no value.
#pragma once

#include <string>
#include <vector>

#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// `current` as a status has it: in the order of the specs, and as many or fewer.
std::string TargetsText(const std::vector<MetricSpec>& specs,
                        const std::vector<MetricStatus>& current);

}  // namespace flyball::scaler
