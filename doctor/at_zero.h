// Tells whether a target at zero replicas will be woken, which depends on the version of the HPA
// controller.
//
// Pure.
#pragma once

#include "doctor/autoscaler.h"
#include "doctor/finding.h"

namespace flyball::doctor {

// To be called only if the scale is known and has zero replicas.
Finding CheckAtZero(const AutoscalerFacts& facts);

}  // namespace flyball::doctor
