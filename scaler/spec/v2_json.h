// One entry of status.currentMetrics as the API shows it (autoscaling/v2 MetricStatus).
//
// Pure. The members stand in the order of the API's own JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

nlohmann::ordered_json MetricStatusJson(const MetricStatus& status);

}  // namespace flyball::scaler
