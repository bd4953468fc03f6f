// Decides which shards this replica owns, by one Lease for each shard. It is also the fence that is
// asked before every write.
//
// A replica owns a shard while it holds its Lease and renewed it less than `renew_deadline` ago,
// counted from the START of the request that renewed it, on its own monotonic clock. Another
// replica takes the Lease only when its record has not changed for `lease_duration` on that
// replica's own clock, counted from when it saw the record, which is after the renewal took effect.
// So between the last moment at which MayWrite is true here and the first moment at which it is
// true on another replica there are always `lease_duration` - `renew_deadline` (WriteMargin): a
// write must not take longer than that. Wall times are written only for people to read; a jump of
// the wall clock changes nothing. All this holds as long as the monotonic clocks of two machines do
// not differ in speed by more than that margin in a lease duration (a third, with the defaults).
//
// All replicas have to use the same number of shards (shard_count.h). A replica with another number
// owns no shard until no shard of the old division has an owner.
//
// With several shards each replica also holds a member Lease (`flyball-scaler-member-<k>`, the
// first k that is free), so that all know which replicas are alive. When a shard belongs with
// another living replica (shards.h) for a lease duration, its owner hands it over: it stops
// deciding the shard, for two more seconds writes what was decided before, and WriteMargin later
// saves the shard's state and releases the Lease. A Lease that has run out is taken by any replica
// that finds it; a released Lease is left for a moment to the replica that it belongs with. A Lease
// that somebody deleted or emptied is taken again by its owner; other replicas treat it as held,
// also those that have never seen it otherwise, and make a deleted one anew without a holder.
//
// Thread-safe. One thread does a round each `retry_period`, or sooner when a Lease is about to run
// out. So that no Lease runs out meanwhile, a round that has lasted half of `renew_deadline` looks
// at one Lease that is not ours at most, and in each round ShardMemory is called for a retry period
// and one more call at most. The thread also calls the function given to OnChange.
// Source:  k8s.io/client-go v0.34.4 leaderelection, for one Lease; its three times and defaults.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "scaler/shards/lease_store.h"
#include "scaler/stores/ownership.h"

namespace flyball::scaler {

struct ElectionOptions {
  std::string ns;        // the namespace of the Leases
  std::string identity;  // different for each process, even within one pod
  int shards = 1;        // 1..kMaxShards; the same on all replicas
  std::string prefix = "flyball-scaler";
  absl::Duration lease_duration = absl::Seconds(15);  // whole seconds
  absl::Duration renew_deadline = absl::Seconds(10);
  absl::Duration retry_period = absl::Seconds(2);

  // How long a write that MayWrite allowed may take.
  absl::Duration WriteMargin() const { return lease_duration - renew_deadline; }
};

// kInvalidArgument, with the name of the flag, unless lease_duration > renew_deadline >
// 1.2 * retry_period > 0, as client-go requires.
absl::Status CheckElection(const ElectionOptions& options);

// Identifies a term of ownership of a shard: later owners have higher numbers.
struct ShardTerm {
  // The epoch of a process without an election, which cannot know how many terms came before.
  static constexpr int64_t kNoElection = -1;

  int64_t epoch = kNoElection;  // how often the shard has changed hands
  int64_t division = 0;         // ShardCount::term
};

// How many failed tries in a row to read or move the saved state end the wait for it.
inline constexpr int kMemoryTries = 4;

// What is remembered of a shard and passed from owner to owner. The election's thread calls
// everything but IsSafe, TellsOfSleep and Take.
class ShardMemory {
 public:
  virtual ~ShardMemory() = default;
  // Whether anything is saved of any shard, so that there was an owner before.
  virtual absl::StatusOr<bool> IsAnySaved() = 0;
  // Distributes what is saved for `before` shards over the present number of shards; `division` is
  // ShardCount::term. No shard has an owner meanwhile. After a failure half way it is called again,
  // but after a lack of rights no more than kMemoryTries times in a row.
  virtual absl::Status Move(int before, int64_t division) = 0;
  // Reads what is saved of a shard that is ours from now on. After an error it is called again a
  // little later. After kMemoryTries kPermissionDenied in a row the shard begins without the saved
  // state; a single one may come from an API server that has just started and does not know all
  // rights.
  virtual absl::Status Load(int shard, const ShardTerm& term) = 0;
  // Saves what is remembered of a shard that is about to be released.
  virtual void Save(int shard) = 0;
  // Forgets a shard that is no longer ours.
  virtual void Drop(int shard) = 0;
  // Like Ownership::MayShrink. If it is false, it soon becomes true, or a log line says why not.
  virtual bool IsSafe(const AutoscalerKey& key, int32_t current) = 0;
  // Like Ownership::MayPutToSleep.
  virtual bool TellsOfSleep(const AutoscalerKey& key) = 0;
  // Like Ownership::Restore.
  virtual std::optional<RememberedState> Take(const AutoscalerKey& key, int32_t current,
                                              absl::Time now) = 0;
};

class ShardElection : public Ownership {
 public:
  // The references outlive the election; `memory` may be nullptr.
  ShardElection(ElectionOptions options, LeaseStore& leases, ShardMemory* memory, Clock& clock);
  ~ShardElection() override;  // stops
  ShardElection(const ShardElection&) = delete;
  ShardElection& operator=(const ShardElection&) = delete;

  void Start();
  // Ends the thread, saves and releases all shards. To be called after the last decision and write.
  void Stop();

  bool Owns(const AutoscalerKey& key) const override;
  bool MayWrite(const AutoscalerKey& key, MonotonicTime now) const override;
  uint64_t Term(const AutoscalerKey& key) const override;
  bool Remembers(const AutoscalerKey& key) const override;
  bool MayShrink(const AutoscalerKey& key, int32_t current) override;
  bool MayPutToSleep(const AutoscalerKey& key) override;
  std::optional<RememberedState> Restore(const AutoscalerKey& key, int32_t current,
                                         absl::Time now) override;
  void OnChange(std::function<void()> on_change) override;

  // Owns and MayWrite for a shard.
  bool OwnsShard(int shard) const;
  bool MayWriteShard(int shard, MonotonicTime now) const;
  size_t owned() const;

  // OK once every Lease could be read or taken in one round; else the last failure. Also OK while
  // this replica waits for replicas with another number of shards, so that a roll-out goes on.
  absl::Status Ready() const;

  // Does one round now and returns how long to wait until the next. Only for tests, instead of
  // Start.
  absl::Duration Round();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::scaler
