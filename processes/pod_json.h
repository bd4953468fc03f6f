// The pod that represents a replica of a ProcessSet, and the status of a ProcessSet.
//
// Pure. A pod has the fields that Flyball reads: labels, phase, start time, readiness, address,
// port, and the prometheus.io annotations if the set has a metricsPath.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "processes/process_set_spec.h"
#include "processes/replicas.h"

namespace flyball::processes {

std::string PodPath(const ProcessSetSpec& spec, int32_t index);
std::string PodJson(const ProcessSetSpec& spec, const ReplicaView& replica);

// {"status": …}, as a merge patch. Replicas that are being ended do not count.
std::string StatusJson(const ProcessSetSpec& spec, const std::vector<ReplicaView>& replicas);

// The entry of one set in the status file.
std::string StatusFileText(const ProcessSetSpec& spec, const std::vector<ReplicaView>& replicas);

}  // namespace flyball::processes
