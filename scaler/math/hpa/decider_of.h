// Which math decides an autoscaler, wherever it is decided. There is one kind: the replica math of
// HPAs.
//
// Pure.
#pragma once

#include "scaler/math/hpa/hpa_decider.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

inline const Decider& DeciderOf(const Autoscaler& /*autoscaler*/) { return HpaDecider(); }

}  // namespace flyball::scaler
