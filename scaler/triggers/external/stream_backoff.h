// How long to wait before opening a stream that has ended again. Pure.
#pragma once

#include <algorithm>

#include "absl/time/time.h"

namespace flyball::scaler {

// The pause before the nth new attempt (counted from 0): 2 s, doubling up to 60 s, each up to a
// fifth more or less depending on `random` in [0, 1).
inline absl::Duration StreamBackoff(int nth, double random) {
  constexpr absl::Duration kFirst = absl::Seconds(2);
  constexpr absl::Duration kLongest = absl::Seconds(60);
  const absl::Duration planned = nth >= 5 ? kLongest : std::min(kFirst * (1 << nth), kLongest);
  return planned * (0.8 + 0.4 * random);
}

}  // namespace flyball::scaler
