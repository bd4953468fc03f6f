// The replica math of the HorizontalPodAutoscaler: proposals from metrics, the largest, windows,
// rules and bounds.
//
// Source:  Kubernetes v1.34.4 pkg/controller/podautoscaler/horizontal.go (reconcileAutoscaler).
#pragma once

#include "scaler/math/reconcile.h"

namespace flyball::scaler {

// Without state of its own. Nothing proportional to the pods is allocated once the buffers of
// Workspace and Decision have grown.
const Decider& HpaDecider();

}  // namespace flyball::scaler
