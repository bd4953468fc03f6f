// About how many bytes an answer takes as compact JSON, counted before it is made: what a client
// sends may be repeated for each item.
//
// Pure. An estimate from above for what is usual; escapes may make an answer longer, never twice as
// long.
#pragma once

#include <cstddef>
#include <vector>

#include "adapter/provider.h"

namespace flyball::apiservice::wire {

size_t JsonBytes(const adapter::CustomMetricList& list);
size_t JsonBytes(const adapter::ExternalMetricList& list);
size_t JsonBytes(const std::vector<adapter::PodMetrics>& items);
size_t JsonBytes(const std::vector<adapter::NodeMetrics>& items);

}  // namespace flyball::apiservice::wire
