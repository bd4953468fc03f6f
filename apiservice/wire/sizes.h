// Estimates the size of an answer as compact JSON before it is made, since a text that a client
// sends may be repeated for each item.
//
// Pure. It is an upper estimate for usual texts; escapes may make an answer longer, but never twice
// as long.
#pragma once

#include <cstddef>
#include <vector>

#include "adapter/provider.h"

namespace flyball::apiservice::wire {

size_t JsonBytes(const adapter::CustomMetricList& list);
size_t JsonBytes(const adapter::ExternalMetricList& list);
size_t JsonBytes(const std::vector<adapter::PodMetrics>& items);
size_t JsonBytes(const std::vector<adapter::NodeMetrics>& items);

// The approximate memory of the list itself, in which no item repeats the selector.
size_t MemoryBytes(const adapter::CustomMetricList& list);
template <typename List>
size_t MemoryBytes(const List& list) {
  return JsonBytes(list);
}

}  // namespace flyball::apiservice::wire
