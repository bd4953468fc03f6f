// Makes pods, and the answers from which readings are made, from documents of the API.
//
// Pure. Only what the math needs is read; unknown fields are ignored, as the API's clients do.
// v1beta1 and v1beta2 of custom.metrics.k8s.io are read alike: they differ only in how they tell
// the metric's name and selector, which the caller knows, since it asked for them.
// Error: kInvalidArgument if a field that is needed has the wrong type. The message names the field
// after `path`, which is the place of the document in a larger one: "items[3]".
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/inputs/pod_json.h"
#include "scaler/math/pods.h"
#include "scaler/math/readings.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {

// core/v1 Pod.
absl::StatusOr<Pod> ReadPod(const Node& node, absl::string_view path = "");
// The pod's controller; empty if it has none.
absl::StatusOr<PodController> ReadPodController(const Node& pod, absl::string_view path = "");
// metrics.k8s.io/v1beta1 PodMetrics.
absl::StatusOr<PodMetrics> ReadPodMetrics(const Node& node, absl::string_view path = "");
// custom.metrics.k8s.io MetricValue.
absl::StatusOr<ObjectMetric> ReadObjectMetricValue(const Node& node, absl::string_view path = "");
// external.metrics.k8s.io/v1beta1 ExternalMetricValue.
absl::StatusOr<ExternalMetric> ReadExternalMetricValue(const Node& node,
                                                       absl::string_view path = "");

}  // namespace flyball::scaler
