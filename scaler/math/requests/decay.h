// How fast an exponential average forgets, to the last bit as Go's math.Pow on amd64 has it.
//
// Pure. Other libraries' pow() differs from it in the last place, which would show in averages.
//
// Source:  Knative Serving v0.51.0 pkg/autoscaler/aggregation/bucketing.go.
#pragma once

#include <cstdint>

namespace flyball::scaler {

// The share of the newest second in the average over so many, 1 at least: so large that the weights
// add up to 0.9999, and never less than 0.2.
double DecayOf(int64_t seconds);

// `base` from 0 to 1, multiplied `times` times; `times` is not negative.
double PowerOf(double base, int64_t times);

}  // namespace flyball::scaler
