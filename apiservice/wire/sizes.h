// Estimates the size of an answer as compact JSON before it is made, since a text that a client
// sends may be repeated for each item.
//
// Pure. It is an upper estimate.
#pragma once

#include <cstddef>
#include <vector>

#include "adapter/provider.h"

namespace flyball::apiservice::wire {

size_t JsonBytes(const adapter::CustomMetricList& list);
size_t JsonBytes(const adapter::ExternalMetricList& list);
size_t JsonBytes(const std::vector<adapter::PodMetrics>& items);
size_t JsonBytes(const std::vector<adapter::NodeMetrics>& items);
// Of a list of so many items, without what each of them repeats. The list itself takes about as
// much memory.
size_t JsonBytes(size_t items, size_t text_bytes);

}  // namespace flyball::apiservice::wire
