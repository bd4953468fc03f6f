// Reads a report of an Envoy's metrics sink: the load of each service.
//
// Pure.
#pragma once

#include <vector>

#include "envoy.pb.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

// The loads in one report, each service once, sorted by name. Values that are negative or not
// finite count as absent.
std::vector<ServiceLoad> LoadOf(const envoy::StreamMetricsMessage& report);

}  // namespace flyball::front
