// The pod that stands for a replica of a ProcessSet, and what a ProcessSet's status says of them.
//
// Pure. A pod has what the house reads of one: labels, phase, start time, readiness, address, port,
// and the prometheus.io annotations of a set with a metricsPath.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "processes/process_set_spec.h"
#include "processes/replicas.h"

namespace flyball::processes {

std::string PodPath(const ProcessSetSpec& spec, int32_t index);
std::string PodJson(const ProcessSetSpec& spec, const ReplicaView& replica);

// {"status": …}, as a merge patch. Those that are being ended do not count.
std::string StatusJson(const ProcessSetSpec& spec, const std::vector<ReplicaView>& replicas);

// One set of the status file.
std::string StatusFileText(const ProcessSetSpec& spec, const std::vector<ReplicaView>& replicas);

}  // namespace flyball::processes
