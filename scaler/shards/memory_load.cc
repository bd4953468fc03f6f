#include "scaler/shards/memory_load.h"

#include <spdlog/spdlog.h>

#include <string>

namespace flyball::scaler {

bool MemoryLoad::Try(ShardMemory* memory, int shard, const ShardTerm& term) {
  const absl::Status status = memory == nullptr ? absl::OkStatus() : memory->Load(shard, term);
  if (!status.ok()) ++failures_;
  refusals_ = absl::IsPermissionDenied(status) ? refusals_ + 1 : 0;
  done_ = status.ok() || refusals_ == kMemoryTries;
  if (!status.ok() && (done_ || failures_ == kMemoryTries)) {
    spdlog::warn("scaler shard {}: {}: {}", shard,
                 done_ ? "it begins without its saved state, and saves none"
                       : "nothing is made smaller until its saved state can be read",
                 std::string(status.message()));
  }
  return done_;
}

void MemoryLoad::Skip(int shard) {
  if (++failures_ != kMemoryTries) return;
  spdlog::warn(
      "scaler shard {}: nothing is made smaller until its saved state can be read, and reading "
      "that of other shards takes too long",
      shard);
}

}  // namespace flyball::scaler
