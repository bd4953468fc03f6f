// The time that is passed to the front (data_path.h).
#pragma once

#include "absl/time/time.h"
#include "base/clock.h"

namespace flyball::front {

inline absl::Time FrontTime(const Clock& clock) { return absl::UnixEpoch() + clock.MonotonicNow(); }

}  // namespace flyball::front
