// Distributes saved states anew when the number of shards changes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "base/clock.h"
#include "scaler/shards/state_records.h"

namespace flyball::scaler {

// Moves what is saved for `before` shards into the records of `shards` shards, as the division with
// that number (ShardMemory::Move). `most_bytes` limits one record. After an error the next try
// finds what was already moved.
absl::Status MoveStates(const StateRecords& records, Clock& clock, int before, int shards,
                        int64_t division, size_t most_bytes);

}  // namespace flyball::scaler
