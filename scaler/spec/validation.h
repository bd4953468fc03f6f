// The API server's validation of a new HorizontalPodAutoscaler.
//
// Pure. Source: Kubernetes v1.34.4 pkg/apis/autoscaling/validation and pkg/apis/core/validation.
// Texts and field paths are upstream's.
#pragma once

#include <cstdint>

#include "scaler/spec/field_error.h"
#include "scaler/spec/v2.h"

namespace flyball::scaler {

struct ValidationOptions {
  int32_t min_replicas_lower_bound = 1;
  bool allow_core_group_target = false;  // scaleTargetRef of kind ReplicationController
  bool wakes_by_trigger = false;         // triggers leave zero replicas: that needs no metric
};

void ValidateHpa(const Hpa& hpa, const ValidationOptions& options, FieldErrors& errors);

}  // namespace flyball::scaler
