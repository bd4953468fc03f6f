// Keeps what autoscalers remember in the cluster, in one ConfigMap for each shard, so that the
// replica which decides them next goes on instead of beginning anew.
//
// Past recommendations and changes of the scale are taken from each decision, written down at most
// each `interval` when they changed, sooner where IsSafe asks for it, and when a shard is handed
// over, and read when one is taken.
//
// Whoever takes over must never shrink a target that the last owner would have held:
//   * what was decided between the last write and a crash is in no record. The count found stands
//     for it as a recommendation just made, and its difference from the count written down as a
//     change just made;
//   * wall clocks of two machines need not agree, so a record counts as written just now: past
//     recommendations and removals get no older meanwhile. Additions, which allow removals, do, by
//     what the wall clocks say;
//   * a target is not made smaller before something was written down of it, its last change
//     included (IsSafe): from a difference of counts the next owner could tell neither additions
//     nor a removal that somebody else has undone;
//   * a record that cannot be read is ignored.
// Without a record it is as after a start of the stock controller: the count found counts as
// recommended, and changes are forgotten.
//
// Nothing is kept of autoscalers in mode shadow, since nothing is written for them.
//
// Thread-safe. One thread writes; Load and Save are called by the election. What does not fit in a
// ConfigMap is left out, the autoscalers first that were not decided for the longest time. Where
// the number of shards changes, Move divides what is kept anew.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/api_client.h"
#include "scaler/shards/election.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/state_store_codec.h"
#include "scaler/views/decision_record.h"

namespace flyball::scaler {

struct StateStoreOptions {
  std::string ns;  // where the ConfigMaps are
  int shards = 1;
  std::string prefix = "flyball-scaler-state";
  absl::Duration interval = absl::Seconds(15);
  absl::Duration longest_window = absl::Hours(1);  // of any stabilisation
  absl::Duration soonest = absl::Seconds(1);       // least time between two writes of a shard
  size_t most_bytes = kMostKeptBytes;
};

// What an autoscaler remembers at `now`, when `kept` was written down of it and its target is found
// with `current` replicas. `complete`: nothing was decided after it was written down.
ScalerState BringForward(const KeptAutoscaler& kept, bool complete, int32_t current, absl::Time now,
                         const StateStoreOptions& options);

class StateStore : public ShardMemory, public DecisionObserver {
 public:
  struct Stats {
    uint64_t written = 0, failed = 0, dropped = 0;
  };

  // `client` and `clock` outlive the store.
  StateStore(StateStoreOptions options, kube::ApiClient& client, Clock& clock);
  ~StateStore() override;  // stops, without writing
  StateStore(const StateStore&) = delete;
  StateStore& operator=(const StateStore&) = delete;

  // `may_write` is the fence of a shard, a few atomic loads: asked before it is written. Without
  // one, all may be written.
  void UseFence(std::function<bool(int shard)> may_write);
  // Begins to write what changes.
  void Start();
  void Stop();

  absl::Status Move(int before, int64_t division) override;
  absl::Status Load(int shard, const ShardTerm& term) override;
  void Save(int shard) override;
  void Drop(int shard) override;
  bool IsSafe(const AutoscalerKey& key) override;
  std::optional<RememberedState> Take(const AutoscalerKey& key, int32_t current,
                                      absl::Time now) override;

  void OnDecision(const DecisionRecord& record) override;
  void OnForgotten(const AutoscalerKey& key) override;
  void OnReleased(const AutoscalerKey&) override {}  // Save still needs it; Drop forgets it
  void OnSteady(const AutoscalerKey& key, int32_t recommendation,
                const SteadinessPtr& steadiness) override;

  // Writes each shard that changed and is due. Only for tests, instead of Start.
  void WriteWhatChanged();

  Stats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The owner of everything, for a process without an election; it remembers by a ShardMemory.
class RememberingOwner : public SoleOwner {
 public:
  explicit RememberingOwner(ShardMemory& memory) : memory_(memory) {}
  bool MayShrink(const AutoscalerKey& key) override { return memory_.IsSafe(key); }
  std::optional<RememberedState> Restore(const AutoscalerKey& key, int32_t current,
                                         absl::Time now) override {
    return memory_.Take(key, current, now);
  }

 private:
  ShardMemory& memory_;
};

}  // namespace flyball::scaler
