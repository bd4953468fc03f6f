// How fast an exponential average decays, equal to the last bit to what Go's math.Pow gives on
// amd64.
//
// Pure. The pow() of other libraries differs in the last place, which would show in averages.
//
// Source:  Knative Serving v0.51.0 pkg/autoscaler/aggregation/bucketing.go.
#pragma once

#include <cstdint>

namespace flyball::scaler {

// The weight of the newest second in the average over `seconds`, which is at least 1. It makes the
// weights add up to 0.9999, and is never less than 0.2.
double DecayOf(int64_t seconds);

// `base`, from 0 to 1, to the power of `times`, which is not negative.
double PowerOf(double base, int64_t times);

}  // namespace flyball::scaler
