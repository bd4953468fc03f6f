// The value and the target of each metric in one short line: "17/50, cpu: 82%/60%".
//
// Pure. The format is that of kubectl's column TARGETS of a HorizontalPodAutoscaler: two metrics,
// then how many more there are; <unknown> while a metric has no value.
#pragma once

#include <string>
#include <vector>

#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// `current` is that of a status: in the order of `specs`, and possibly with fewer items.
std::string TargetsText(const std::vector<MetricSpec>& specs,
                        const std::vector<MetricStatus>& current);

}  // namespace flyball::scaler
