// Feature gates that can be inferred from an object of the cluster; no API reports them.
//
// Pure.
// Source: Kubernetes v1.37.1 pkg/controller/podautoscaler/horizontal.go: only a controller with
//         HPAScaleToZero on writes the condition ScaledToZero.
#pragma once

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/dialect.h"

namespace flyball::scaler {

// Whether the status has the condition ScaledToZero, whatever its value.
bool ShowsScaleToZero(const AutoscalerStatus& status);

// The choice after a status has shown the condition: HPAScaleToZero is on, unless the choice names
// a version or sets the gate itself, or the version of `server` is too old for the condition.
DialectChoice WithScaleToZeroShown(DialectChoice choice, const ServerVersion& server);

}  // namespace flyball::scaler
