// autoscaling/v1, read as the API server reads it into its own form.
//
// Pure. Source: Kubernetes v1.34.4 pkg/apis/autoscaling/v1/conversion.go.
#pragma once

#include "absl/status/statusor.h"
#include "scaler/spec/document.h"
#include "scaler/spec/v2.h"

namespace flyball::scaler {

// Applies v1's defaults, the fields that v1 hides in annotations, and the metric that an object
// without any gets. Unreadable annotations are ignored. Errors as those of DecodeV2.
absl::StatusOr<Hpa> DecodeV1(const Node& document);

}  // namespace flyball::scaler
