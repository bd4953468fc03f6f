// Saves what autoscalers remember in one ConfigMap for each shard, so that the replica that decides
// them next goes on where the last one ended.
//
// Past recommendations and changes of the scale are taken from each decision. They are saved at
// most each `interval` if they changed, sooner if IsSafe or growth asks for it, and when a shard is
// handed over; they are read when a shard is taken. A write that fails is tried again, a second
// later and then up to `interval`: what waits for it should not wait long once it succeeds.
//
// The new owner must never shrink a target that the last owner would have held:
//   * What was decided between the last save and a crash is in no record. The count that is found
//     stands for it: it counts as a recommendation just made, and its difference from the saved
//     count as a change just made.
//   * Wall clocks of two machines may differ, so a record counts as saved just now: past
//     recommendations and removals do not age in between. Additions, which allow removals, do age,
//     by the wall clocks.
//   * A new recommendation above the count is saved soon, since the count does not stand for it.
//   * A target is not made smaller before its state, with its last change, is saved (IsSafe): a
//     difference of counts would show the next owner neither additions nor a removal that
//     somebody else has undone.
//   * A target is not put to sleep before its record says that zero was recommended last
//     (TellsOfSleep). The next owner then knows that most likely nobody else scaled it to zero, so
//     that it may wake, even if the status was not written. For a target that the owner found
//     switched off by somebody else, the record does not say so.
//   * A record that cannot be read is ignored.
// Without a record, the state is that of the stock controller after its start: the count that is
// found counts as recommended, and no changes are known.
//
// Nothing is saved for autoscalers in mode shadow, since nothing is written for them. If one was in
// mode act before, the count at a hand-over stands for the recommendations since.
//
// Thread-safe. One thread writes; Load and Save are called by the election. If not all fits in a
// ConfigMap, the autoscalers that were not decided for the longest time are left out. When the
// number of shards changes, Move distributes the saved state anew.
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
  std::string ns;  // the namespace of the ConfigMaps
  int shards = 1;
  std::string prefix = "flyball-scaler-state";
  absl::Duration interval = absl::Seconds(15);
  absl::Duration longest_window = absl::Hours(1);  // the longest stabilization window
  absl::Duration soonest = absl::Seconds(1);       // least time between two writes of a shard
  size_t most_bytes = kMostKeptBytes;
};

// What an autoscaler remembers at `now`, given what was saved for it and the `current` replicas of
// its target. `complete`: nothing was decided after it was saved.
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

  // `may_write` is the fence, called before a shard is written; it should cost no more than a few
  // atomic loads. Without it, all shards may be written.
  void UseFence(std::function<bool(int shard)> may_write);
  // Starts the thread that writes changes.
  void Start();
  void Stop();

  absl::Status Move(int before, int64_t division) override;
  absl::Status Load(int shard, const ShardTerm& term) override;
  void Save(int shard) override;
  void Drop(int shard) override;
  bool IsSafe(const AutoscalerKey& key, int32_t current) override;
  bool TellsOfSleep(const AutoscalerKey& key) override;
  std::optional<RememberedState> Take(const AutoscalerKey& key, int32_t current,
                                      absl::Time now) override;

  void OnDecision(const DecisionRecord& record) override;
  void OnForgotten(const AutoscalerKey& key) override;
  void OnReleased(const AutoscalerKey&) override {}  // Save still needs it; Drop forgets it
  void OnSteady(const AutoscalerKey& key, int32_t recommendation,
                const SteadinessPtr& steadiness) override;

  // Writes each shard that has changed and is due. Only for tests, instead of Start.
  void WriteWhatChanged();

  Stats stats() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::scaler
