// Feature gates that an object of the cluster shows: they are not in the API.
//
// Pure.
// Source: Kubernetes v1.37.1 pkg/controller/podautoscaler/horizontal.go: only a controller with
//         HPAScaleToZero on writes the condition ScaledToZero.
#pragma once

#include "scaler/spec/autoscaler.h"
#include "scaler/spec/dialect.h"

namespace flyball::scaler {

// Whether the status has the condition ScaledToZero, of whatever value.
bool ShowsScaleToZero(const AutoscalerStatus& status);

// The choice as what shows makes it: where the version is left to the cluster, which is the
// `server`'s, and no setting of the gate is given, HPAScaleToZero is on.
DialectChoice WithScaleToZeroShown(DialectChoice choice, const ServerVersion& server);

}  // namespace flyball::scaler
