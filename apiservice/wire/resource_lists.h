// Bodies of metrics.k8s.io from the provider's values: lists, single objects, tables.
//
// Pure. `now` becomes creationTimestamp, as metrics-server 0.7.1 does it.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "adapter/provider.h"

namespace flyball::apiservice::wire {

std::string PodMetricsListJson(const std::vector<adapter::PodMetrics>& pods, absl::Time now);
std::string PodMetricsJson(const adapter::PodMetrics& pod, absl::Time now);
std::string PodMetricsListProtobuf(const std::vector<adapter::PodMetrics>& pods, absl::Time now);
std::string PodMetricsProtobuf(const adapter::PodMetrics& pod, absl::Time now);

std::string NodeMetricsListJson(const std::vector<adapter::NodeMetrics>& nodes, absl::Time now);
std::string NodeMetricsJson(const adapter::NodeMetrics& node, absl::Time now);
std::string NodeMetricsListProtobuf(const std::vector<adapter::NodeMetrics>& nodes, absl::Time now);
std::string NodeMetricsProtobuf(const adapter::NodeMetrics& node, absl::Time now);

// What stands behind a row of a table: the object's metadata, all of it, or nothing.
enum class IncludeObject { kMetadata, kObject, kNone };

// meta.k8s.io/{version} Table with the columns Name, cpu, memory, Window; pods show the sum of
// their containers. `version` is v1 or v1beta1. No rows: no columns, as the original.
std::string PodTableJson(const std::vector<adapter::PodMetrics>& pods, absl::string_view version,
                         IncludeObject include, absl::Time now);
std::string NodeTableJson(const std::vector<adapter::NodeMetrics>& nodes, absl::string_view version,
                          IncludeObject include, absl::Time now);

}  // namespace flyball::apiservice::wire
