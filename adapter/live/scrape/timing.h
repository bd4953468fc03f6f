// When targets are scraped, and which stamps their samples get.
//
// Pure. Source: Prometheus 3.15.0 scrape/target.go (offset), scrape/scrape.go (run).
#pragma once

#include <algorithm>
#include <cstdint>

#include "absl/time/time.h"

namespace flyball::scrape {

// The time until the first scrape: a target's place within the interval never changes while the
// process runs, and targets are spread evenly.
inline absl::Duration FirstWait(absl::Time now, absl::Duration interval, uint64_t target_hash,
                                uint64_t seed) {
  const int64_t interval_ns = absl::ToInt64Nanoseconds(interval);
  const int64_t into_interval = absl::ToUnixNanos(now) % interval_ns;
  const auto offset =
      static_cast<int64_t>((target_hash ^ seed) % static_cast<uint64_t>(interval_ns));
  int64_t wait = interval_ns - into_interval + offset;
  if (wait > interval_ns) wait -= interval_ns;
  return absl::Nanoseconds(wait);
}

// Samples have the ideal tick as their stamp, unless the scrape began too long after it.
inline absl::Time StampOf(absl::Time tick, absl::Time now, absl::Duration interval) {
  const absl::Duration tolerance = std::min(absl::Milliseconds(2), interval / 100);
  return now - tick <= tolerance && now >= tick ? tick : now;
}

}  // namespace flyball::scrape
