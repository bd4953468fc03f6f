// How long the answer to a question may be given again to the same question: until a time, and
// while the epoch of whoever made it is the same. The default forbids it.
//
// Pure. Times are of the monotonic clock.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace flyball {

struct Freshness {
  MonotonicTime fresh_until = absl::ZeroDuration();
  uint64_t epoch = 0;
  // From then on one asker should ask anew, while the others are still given this answer.
  MonotonicTime refresh_at = absl::InfiniteDuration();

  bool HoldsAt(MonotonicTime now) const { return now < fresh_until; }
  bool IsDueAt(MonotonicTime now) const { return now >= refresh_at; }

  // As that of an answer that was also made of the other one; the epoch is their maker's.
  void Add(const Freshness& other) {
    fresh_until = std::min(fresh_until, other.fresh_until);
    refresh_at = std::min(refresh_at, other.refresh_at);
  }
};

}  // namespace flyball
