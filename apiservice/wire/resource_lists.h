// Makes bodies of metrics.k8s.io from the provider's values: lists, single objects, tables.
//
// Pure. `version` of the API is v1 or v1beta1, which differ only in their names (k8s.io/metrics
// 0.37.1). `now` becomes creationTimestamp, as in metrics-server 0.7.1.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "adapter/provider.h"

namespace flyball::apiservice::wire {

// `Item` is adapter::PodMetrics or adapter::NodeMetrics.
template <typename Item>
std::string ObjectJson(const Item& item, absl::string_view version, absl::Time now);
template <typename Item>
std::string ObjectProtobuf(const Item& item, absl::string_view version, absl::Time now);
template <typename Item>
std::string ListJson(const std::vector<Item>& items, absl::string_view version, absl::Time now);
template <typename Item>
std::string ListProtobuf(const std::vector<Item>& items, absl::string_view version, absl::Time now);

// The object in a row of a table: its metadata, all of it, or nothing.
enum class IncludeObject { kMetadata, kObject, kNone };

// meta.k8s.io/{table_version} Table with the columns Name, cpu, memory, Window; pods show the sum
// of their containers. `table_version` is v1 or v1beta1. No rows: no columns, as the original.
template <typename Item>
std::string TableJson(const std::vector<Item>& items, absl::string_view version,
                      absl::string_view table_version, IncludeObject include, absl::Time now);

}  // namespace flyball::apiservice::wire
