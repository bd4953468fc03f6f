// Metrics of this process from the kernel, under Prometheus's usual names.
#pragma once

#include <string>

namespace flyball::apiservice {

// Exposition text: process_cpu_seconds_total, process_resident_memory_bytes,
// process_virtual_memory_bytes, process_open_fds, process_max_fds, process_start_time_seconds.
// Values that cannot be read are left out.
std::string ProcessMetricsText();

}  // namespace flyball::apiservice
