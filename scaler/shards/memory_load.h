// Counts the tries to read what is saved of one shard.
//
// Not thread-safe.
#pragma once

#include "scaler/shards/election.h"

namespace flyball::scaler {

class MemoryLoad {
 public:
  // Tries once more. Returns whether no further try is needed: the state was read, or kMemoryTries
  // refusals in a row say that it may not be read. `memory` may be nullptr.
  bool Try(ShardMemory* memory, int shard, const ShardTerm& term);
  // Counts a try that was not made, since that of another shard has failed and took long.
  void Skip(int shard);

  bool done() const { return done_; }
  // Whether it has failed so often that nobody should wait for it any more.
  bool failed_often() const { return failures_ >= kMemoryTries; }

 private:
  bool done_ = false;
  int failures_ = 0;
  int refusals_ = 0;  // the last of these, in a row
};

}  // namespace flyball::scaler
