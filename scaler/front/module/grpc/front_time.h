// The time that the front is told: data_path.h says which.
#pragma once

#include "absl/time/time.h"
#include "base/clock.h"

namespace flyball::front {

inline absl::Time FrontTime(const Clock& clock) { return absl::UnixEpoch() + clock.MonotonicNow(); }

}  // namespace flyball::front
