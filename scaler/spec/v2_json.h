// Writes autoscaling/v2 as the API server does: fields in the order of Go's structs, quantities in
// canonical form, and without what Go's `omitempty` drops.
//
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/v2.h"

namespace flyball::scaler {

std::string CanonicalSpecJson(const Hpa& hpa);

// One entry of status.currentMetrics.
nlohmann::ordered_json MetricStatusJson(const MetricStatus& status);

}  // namespace flyball::scaler
