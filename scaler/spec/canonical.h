// The JSON of an autoscaling/v2 spec as the API server writes it: fields in the order of Go's
// structs, quantities in canonical form, what `omitempty` leaves out left out.
//
// Pure.
#pragma once

#include <string>

#include "scaler/spec/hpa.h"

namespace flyball::scaler {

std::string CanonicalSpecJson(const Hpa& hpa);

}  // namespace flyball::scaler
