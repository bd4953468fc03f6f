// Items of the metrics APIs' lists, as documents -> the answers that readings are made of.
//
// Pure. v1beta1 and v1beta2 of custom.metrics.k8s.io read the same here: they differ in how they
// tell the metric's name and selector, which the caller knows, since it asked for them.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/math/readings.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// `path` begins the messages: "items[3]".
//   kInvalidArgument  a field that is needed has the wrong type

// metrics.k8s.io/v1beta1 PodMetrics.
absl::StatusOr<PodMetrics> ReadPodMetrics(const Node& node, absl::string_view path = "");
// custom.metrics.k8s.io MetricValue.
absl::StatusOr<ObjectMetric> ReadObjectMetricValue(const Node& node, absl::string_view path = "");
// external.metrics.k8s.io/v1beta1 ExternalMetricValue.
absl::StatusOr<ExternalMetric> ReadExternalMetricValue(const Node& node,
                                                       absl::string_view path = "");

}  // namespace flyball::scaler
