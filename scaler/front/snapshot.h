// The state of the front at one moment, for debug pages and metrics.
//
// Plain values.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "scaler/front/service_state.h"

namespace flyball::front {

// The proposal of a service's requests.
struct WantedCount {
  bool known = false;  // false: nothing was reported yet, or no Envoy is reporting any more
  int32_t count = 0;
  bool operator==(const WantedCount&) const = default;
};

struct ServiceSnapshot {
  ServiceState state = ServiceState::kZero;
  bool gated = true;
  int64_t held = 0;
  int64_t slots_used = 0;
  int64_t slots_total = 0;  // 0: no hard limit
  int acks_pending = 0;
  std::string not_ready;  // why zero has to wait or waking may be slow; empty: all is well
  WantedCount wanted;
};

// Counts since the start.
struct FrontCounters {
  uint64_t held_total = 0;
  uint64_t wakes_total = 0;
  uint64_t gated_requests_total = 0;
  uint64_t nacks_total = 0;
  std::array<uint64_t, 3> refused_total = {};  // by RefusalReason
};

struct FrontTotals {
  FrontCounters counters;
  int64_t envoys = 0;
  int64_t acks_pending = 0;
  int64_t held = 0;
  int64_t slots_used = 0;
  int64_t slots_total = 0;
  absl::Duration stats_age;  // of the connected Envoy that has been silent longest
};

}  // namespace flyball::front
