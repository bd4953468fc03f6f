// What becomes of a target at zero replicas, which depends on the version of the HPA controller.
//
// Pure.
#pragma once

#include "doctor/autoscaler.h"
#include "doctor/finding.h"

namespace flyball::doctor {

// To be called for a scale that is known and says zero.
Finding CheckAtZero(const AutoscalerFacts& facts);

}  // namespace flyball::doctor
