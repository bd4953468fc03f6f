// What the API writes of autoscaling/v2: the fields stand in the order of Go's structs, quantities
// are in canonical form, and what Go's `omitempty` drops is absent.
//
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/v2.h"

namespace flyball::scaler {

// The spec.
std::string CanonicalSpecJson(const Hpa& hpa);

// One entry of status.currentMetrics.
nlohmann::ordered_json MetricStatusJson(const MetricStatus& status);

}  // namespace flyball::scaler
