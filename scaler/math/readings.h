// Makes readings from answers of the metrics APIs in files: those of the vectors, of `explain` and
// of simulations. The loop's readings are made by the same functions, those of read_items.h.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/objects/quantity.h"
#include "scaler/math/input.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

// metrics.k8s.io: what one pod uses.
struct PodMetrics {
  struct ContainerUsage {
    std::string name;
    ResourceList usage;
  };
  std::string name;
  std::optional<absl::Time> timestamp;
  absl::Duration window;
  std::vector<ContainerUsage> containers;
};

// custom.metrics.k8s.io: what one object says.
struct ObjectMetric {
  std::string object_name;
  std::optional<absl::Time> timestamp;
  absl::Duration window = absl::Minutes(1);
  kube::Quantity value;
};

// external.metrics.k8s.io: one series.
struct ExternalMetric {
  std::optional<absl::Time> timestamp;
  kube::Quantity value;
};

// An answer, or why there is none.
template <typename Item>
struct MetricsAnswer {
  std::string error;
  std::vector<Item> items;
};

// The samples of one resource; for `container` "" of the whole pod. A pod has no sample if one of
// its containers does not state the resource.
void ReadResource(const MetricsAnswer<PodMetrics>& answer, absl::string_view resource,
                  absl::string_view container, const PodTable& table, Reading& reading);

// One value for each pod.
void ReadPodsMetric(const MetricsAnswer<ObjectMetric>& answer, const PodTable& table,
                    Reading& reading);

// The one value of an object; anything but one item is an error.
void ReadObjectMetric(const MetricsAnswer<ObjectMetric>& answer, Reading& reading);

// All series.
void ReadExternalMetric(const MetricsAnswer<ExternalMetric>& answer, Reading& reading);

// Calls the function above that fits the metric's type. The answer comes from one of `pods()`,
// `objects()` (for Pods and Object metrics) and `series()`.
template <typename Pods, typename Objects, typename Series>
void ReadMetric(const MetricSpec& metric, const PodTable& table, Pods pods, Objects objects,
                Series series, Reading& reading) {
  switch (metric.type) {
    case MetricType::kResource:
    case MetricType::kContainerResource:
      return ReadResource(pods(), metric.resource, metric.container, table, reading);
    case MetricType::kPods: return ReadPodsMetric(objects(), table, reading);
    case MetricType::kObject: return ReadObjectMetric(objects(), reading);
    case MetricType::kExternal: return ReadExternalMetric(series(), reading);
    case MetricType::kUnknown: return;
  }
}

}  // namespace flyball::scaler
