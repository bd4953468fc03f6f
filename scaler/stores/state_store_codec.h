// Turns what a shard's autoscalers remember into the bytes that are kept in the cluster, and back.
//
// Pure. The bytes hold a version, the time at which they were made, and for each autoscaler its
// name, its number of replicas, past recommendations and changes, all packed (packed.h) and
// deflated. Times are wall times in microseconds, rounded up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/math/input.h"
#include "scaler/stores/managed.h"

namespace flyball::scaler {

// What is kept of one autoscaler.
struct KeptAutoscaler {
  AutoscalerKey key;
  int32_t replicas = 0;  // after the last decision
  ScalerState state;
};

// What is kept of one shard.
struct KeptShard {
  absl::Time saved_at;
  bool complete = false;  // nothing was decided after saved_at: the shard was handed over
  std::vector<KeptAutoscaler> autoscalers;
};

// The largest size of a shard's bytes: a ConfigMap may hold no more than 1 MiB in all.
inline constexpr size_t kMostKeptBytes = 1000000;
// Limit for an inflated shard. It is well above what fits in a ConfigMap, and keeps a few deflated
// bytes from becoming gigabytes of small objects.
inline constexpr size_t kMostInflatedBytes = 8u << 20;
inline constexpr size_t kMostKeptAutoscalers = 50000;
inline constexpr size_t kMostKeptItems = 250000;  // recommendations and changes of all autoscalers

// The first autoscalers of the shard, as many as fit in `most` bytes and in the limits above.
// `dropped` says how many did not fit.
struct EncodedShard {
  std::string bytes;
  size_t dropped = 0;
};
EncodedShard EncodeShard(const KeptShard& shard, size_t most = kMostKeptBytes);

// kDataLoss: the bytes are no valid shard; the message says what is wrong.
absl::StatusOr<KeptShard> DecodeShard(absl::string_view bytes);

// Makes `out` a smaller state that holds back as much as `state`, sorted by time. Recommendations
// that no window can ever notice are left out (state_upkeep.h). If there are too many changes, the
// oldest are added to younger ones, which count for longer.
void CompactState(const ScalerState& state, ScalerState& out);

}  // namespace flyball::scaler
