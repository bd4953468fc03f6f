// The JSON of an autoscaling/v2 spec as the API server writes it: its fields stand in the order of
// Go's structs, quantities are in canonical form, and what Go's `omitempty` drops is absent.
//
// Pure.
#pragma once

#include <string>

#include "scaler/spec/hpa.h"

namespace flyball::scaler {

std::string CanonicalSpecJson(const Hpa& hpa);

}  // namespace flyball::scaler
