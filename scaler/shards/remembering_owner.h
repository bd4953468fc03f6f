// Owns everything, for a process without an election, and remembers through a ShardMemory.
#pragma once

#include <atomic>
#include <functional>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/repeating_thread.h"
#include "scaler/shards/election.h"
#include "scaler/shards/memory_load.h"

namespace flyball::scaler {

class RememberingOwner : public SoleOwner {
 public:
  // `memory` and `clock` outlive the owner.
  RememberingOwner(ShardMemory& memory, Clock& clock);

  // Reads the saved state now and, if that fails because the API server is away, again every few
  // seconds in a thread of its own. Until it is read, no target is made smaller.
  void Start();
  void Stop() { thread_.Stop(); }

  bool Remembers(const AutoscalerKey&) const override { return remembers_; }
  bool MayShrink(const AutoscalerKey& key, int32_t current) override {
    return remembers_ && memory_.IsSafe(key, current);
  }
  bool MayPutToSleep(const AutoscalerKey& key) override { return memory_.TellsOfSleep(key); }
  std::optional<RememberedState> Restore(const AutoscalerKey& key, int32_t current,
                                         absl::Time now) override {
    return memory_.Take(key, current, now);
  }
  void OnChange(std::function<void()> on_change) override;

 private:
  // Returns the time until the next try.
  absl::Duration Load();

  ShardMemory& memory_;
  MemoryLoad load_;  // used by one thread at a time
  std::atomic<bool> remembers_ = false;
  absl::Mutex mutex_;
  std::function<void()> on_change_ ABSL_GUARDED_BY(mutex_);
  RepeatingThread thread_;
};

}  // namespace flyball::scaler
