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
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/repeating_thread.h"
#include "kube/client/api_client.h"
#include "scaler/shards/election.h"
#include "scaler/shards/shards.h"
#include "scaler/shards/state_records.h"
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

  absl::StatusOr<bool> IsAnySaved() override;
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
  struct HeldState {
    bool untaken = false;  // it comes from an earlier owner, and Take was not called yet
    bool as_read = false;  // it comes from an earlier owner, and nothing was decided since
    // When it came from an earlier owner; nullopt: it is ours.
    std::optional<MonotonicTime> read_at;
    bool outlived = false;  // an end was told since then: it may be of another object, or of none
    int32_t replicas = 0;
    // The count that was found last, if since then the autoscaler was decided only in mode shadow,
    // of which the state has no record.
    std::optional<int32_t> paused_at;
    ScalerState state;           // compact
    absl::Duration wall_offset;  // wall - monotonic, when its times were taken
    bool saved = false;          // it is in the record, or the record has no room for it
    bool change_unsaved = false;
    bool under_way = false;  // it is being written...
    bool change_under_way = false;
    bool zero_saved = false;  // the record says that zero was recommended last
    bool zero_under_way = false;
    MonotonicTime seen = absl::ZeroDuration();  // when it was decided last
    absl::Time written_newest = absl::InfinitePast();
    SteadinessPtr steadiness;    // each of its rounds has renewed... (may be null)
    int32_t recommendation = 0;  // ...the one for so many replicas

    // The time of the last round; in the infinite past if there was none.
    absl::Time LastRound() const {
      const bool any = steadiness != nullptr && steadiness->rounds() > 0;
      return any ? steadiness->last() : absl::InfinitePast();
    }

    bool IsSafe() const { return saved && !change_unsaved && !change_under_way; }
  };

  struct Shard {
    bool loaded = false;
    bool writing = false;  // one write at a time
    bool changed = false;
    bool urgent = false;    // something waits until it is written
    bool complete = false;  // whether what was read is complete (RememberedState)
    bool said_dropped = false;
    std::optional<int64_t> loaded_epoch;  // of the last Load, also after Drop
    ShardTerm record;                     // which owner wrote it down
    std::string resource_version;         // "" when there is no ConfigMap
    MonotonicTime written_at = absl::ZeroDuration();
    MonotonicTime looked_at = absl::ZeroDuration();  // for steady autoscalers
    absl::Duration write_took;                       // the last that succeeded
    absl::Duration pause;  // while writes fail: each is twice as long as the one before
    std::string failure;   // of the last write; "" if it succeeded
    int refusals = 0;      // how many of the last writes the API server has refused, in a row
    absl::flat_hash_map<AutoscalerKey, HeldState> states;

    // A single refusal may come from an API server that has just started and does not know all
    // rights.
    bool MayNotBeWritten() const { return refusals >= kMemoryTries; }
  };

  void NotePause(const AutoscalerKey& key, int32_t current);
  void AddTo(HeldState& held, const DecisionRecord& record, Shard& shard) const;
  Shard& ShardFor(const AutoscalerKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return shards_[static_cast<size_t>(ShardOf(key, options_.shards))];
  }
  absl::Duration WallOffset() const {
    return clock_.WallNow() - absl::UnixEpoch() - clock_.MonotonicNow();
  }
  // Moves the times if the wall clock was set since they were taken.
  void FollowClock(HeldState& held) const;
  bool SteadyLong(Shard& shard) const;
  KeptShard Collect(Shard& shard, bool hand_over) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Writes a shard: at a hand-over in any case, otherwise if it has changed, is due and the fence
  // allows it.
  void Write(int index, bool hand_over);
  void CountOn(int index, int64_t epoch);
  void Finish(int index, int64_t epoch, size_t dropped,
              const absl::StatusOr<std::string>& resource_version);
  static void TakeRounds(HeldState& held);
  static void EndOfWrite(bool written, HeldState& held);

  const StateStoreOptions options_;
  const StateRecords records_;
  Clock& clock_;
  const absl::Duration step_;  // time between two checks of what is to be written
  mutable absl::Mutex mutex_;
  std::vector<Shard> shards_ ABSL_GUARDED_BY(mutex_);
  Stats stats_ ABSL_GUARDED_BY(mutex_);
  std::function<bool(int)> may_write_ ABSL_GUARDED_BY(mutex_);
  RepeatingThread thread_;
};

}  // namespace flyball::scaler
