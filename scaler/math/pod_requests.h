// How much of a resource a pod asks for, as utilisation is measured against it.
//
// Pure. Source: Kubernetes v1.34.4 replica_calculator.go (calculateRequests) and
// k8s.io/component-helpers v0.34.4 resource/helpers.go (PodRequests).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "scaler/math/pods.h"

namespace flyball::scaler {

struct RequestQuery {
  absl::string_view resource;   // "cpu"
  absl::string_view container;  // "": the whole pod
  bool pod_level = true;        // gate PodLevelResources
};

// Thousandths. A named container that the pod does not have asks for 0.
//   kNotFound         something that must state the resource does not; upstream's text
//   kInvalidArgument  the requests have no sum that can be told (Quantity::Plus)
absl::StatusOr<int64_t> PodRequest(const Pod& pod, const RequestQuery& query);

}  // namespace flyball::scaler
