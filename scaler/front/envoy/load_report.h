// What an Envoy's metrics sink says of each service.
//
// Pure.
#pragma once

#include <vector>

#include "envoy.pb.h"
#include "scaler/front/data_path.h"

namespace flyball::front {

// One report; each service once, sorted by name. Values that are no finite numbers, and negative
// ones, count as none.
std::vector<ServiceLoad> LoadOf(const envoy::StreamMetricsMessage& report);

}  // namespace flyball::front
