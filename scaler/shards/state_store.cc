#include "scaler/shards/state_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "base/go/arithmetic.h"
#include "base/repeating_thread.h"
#include "base/status_macros.h"
#include "scaler/shards/shards.h"
#include "scaler/shards/state_records.h"
#include "scaler/stores/state_upkeep.h"

namespace flyball::scaler {
namespace {

constexpr absl::Duration kLongestPeriod = absl::Minutes(30);  // of a policy
// If only times have changed, a write is not worth while until they have moved by this much.
constexpr absl::Duration kTimesWorthAWrite = absl::Minutes(1);

// Whether the values, not the times, are the same.
bool SameValues(const ScalerState& a, const ScalerState& b) {
  const auto same_replicas = [](const Recommendation& x, const Recommendation& y) {
    return x.replicas == y.replicas;
  };
  return std::equal(a.recommendations.begin(), a.recommendations.end(), b.recommendations.begin(),
                    b.recommendations.end(), same_replicas) &&
         a.scale_ups == b.scale_ups && a.scale_downs == b.scale_downs;
}

// Whether zero was recommended last.
bool EndsInZero(const ScalerState& state) {
  return !state.recommendations.empty() && state.recommendations.back().replicas == 0;
}

// Leaves out what is older than `oldest`, and moves to `now` what lies ahead of it.
template <typename Item>
void Settle(absl::Time oldest, absl::Time now, std::vector<Item>& items) {
  std::erase_if(items, [oldest](const Item& item) { return item.time < oldest; });
  for (Item& item : items) item.time = std::min(item.time, now);
}

// The last recommendation, limited by the maximum. While it is above the count, because policies or
// failed writes hold it back, the count would not show it to the next owner.
int32_t RecommendedNow(const ScalerState& state, const Managed& managed) {
  if (state.recommendations.empty()) return 0;
  return std::min(state.recommendations.back().replicas, managed.autoscaler.max_replicas);
}

}  // namespace

ScalerState BringForward(const KeptAutoscaler& kept, bool complete, int32_t current, absl::Time now,
                         const StateStoreOptions& options) {
  ScalerState state = kept.state;
  Settle(now - options.longest_window, now, state.recommendations);
  Settle(now - kLongestPeriod, now, state.scale_ups);
  Settle(now - kLongestPeriod, now, state.scale_downs);
  // Only a removal is recorded: additions by somebody unknown would allow as many removals.
  if (current < kept.replicas) {
    state.scale_downs.push_back({.change = WrapSub32(kept.replicas, current), .time = now});
  }
  // As RecordInitialRecommendation stamps it: older than the recommendation that follows.
  if (!complete || current != kept.replicas || state.recommendations.empty()) {
    state.recommendations.push_back({.replicas = current, .time = now - absl::Microseconds(1)});
  }
  return state;
}

class StateStore::Impl {
 public:
  Impl(StateStoreOptions options, kube::ApiClient& client, Clock& clock)
      : options_(std::move(options)),
        records_(options_.ns, options_.prefix, client, clock),
        clock_(clock),
        step_(std::max(std::min(options_.interval / 8, options_.soonest), absl::Milliseconds(10))),
        shards_(static_cast<size_t>(options_.shards)),
        thread_(clock_, [this] {
          WriteWhatChanged();
          return step_;
        }) {}

  ~Impl() { Stop(); }

  void UseFence(std::function<bool(int)> may_write) {
    absl::MutexLock lock(&mutex_);
    may_write_ = std::move(may_write);
  }

  void Start() { thread_.Start(step_); }
  void Stop() { thread_.Stop(); }

  absl::Status Move(int before, int64_t division) {
    return MoveStates(records_, clock_, before, options_.shards, division, options_.most_bytes);
  }

  absl::Status Load(int index, const ShardTerm& term) {
    StateRecord stored;
    KeptShard kept;
    RETURN_IF_ERROR(records_.Read(index, stored, kept));
    absl::MutexLock lock(&mutex_);
    Shard& shard = shards_[static_cast<size_t>(index)];
    const bool again = shard.loaded_epoch == term.epoch;
    shard = Shard();
    shard.loaded = true;
    shard.loaded_epoch = term.epoch;
    // The maximum, since a Lease that was deleted and made again counts from the start.
    shard.record.epoch = std::max(term.epoch, stored.epoch + 1);
    shard.record.division = std::max(term.division, stored.division);
    shard.resource_version = stored.resource_version;
    // If there was another owner between that one and us, it has left no record. Neither have we,
    // if we lost the Lease and won it back, which begins no new term.
    shard.complete = kept.complete && !again && stored.epoch + 1 == term.epoch &&
                     stored.division == term.division;
    shard.written_at = clock_.MonotonicNow();
    for (KeptAutoscaler& item : kept.autoscalers) {
      if (ShardOf(item.key, options_.shards) != index) continue;
      HeldState& held = shard.states[item.key];
      held.untaken = held.as_read = true;
      held.replicas = item.replicas;
      held.state = std::move(item.state);
      held.saved = true;
      held.zero_saved = EndsInZero(held.state);
      held.wall_offset = WallOffset();
      held.seen = clock_.MonotonicNow();
    }
    return absl::OkStatus();
  }

  void Save(int index) { Write(index, true); }

  void Drop(int index) {
    absl::MutexLock lock(&mutex_);
    Shard& shard = shards_[static_cast<size_t>(index)];
    const std::optional<int64_t> loaded_epoch = shard.loaded_epoch;
    shard = Shard();
    shard.loaded_epoch = loaded_epoch;
  }

  std::optional<RememberedState> Take(const AutoscalerKey& key, int32_t current, absl::Time now) {
    KeptAutoscaler kept;
    bool complete = false;
    {
      absl::MutexLock lock(&mutex_);
      Shard& shard = ShardFor(key);
      const auto found = shard.states.find(key);
      if (found == shard.states.end() || !found->second.untaken) return std::nullopt;
      found->second.untaken = false;
      FollowClock(found->second);
      kept = {.key = key, .replicas = found->second.replicas, .state = found->second.state};
      complete = shard.complete;
    }
    // An addition that is not written down may have replaced earlier ones.
    return RememberedState{.state = BringForward(kept, complete, current, now, options_),
                           .complete = complete && current <= kept.replicas,
                           .put_to_sleep = current == 0 && EndsInZero(kept.state)};
  }

  void OnDecision(const DecisionRecord& record) {
    const Decision& decision = *record.decision;
    if (decision.outcome == Outcome::kScaleUnknown) return;
    // In mode shadow nothing is written anywhere.
    if (record.mode == Mode::kShadow) return NotePause(record.managed->key, decision.current);
    // Every replica decides what is advised, also while the shard is being handed over: the next
    // owner's state must not be replaced by decisions that were made without it.
    if (!record.restored && record.mode != Mode::kAct) return;
    thread_local ScalerState compact;
    CompactState(decision.state, compact);
    // Additions that were seen while we did not act may not be ours: they must not allow removals
    // to an owner that acts.
    if (record.mode != Mode::kAct) compact.scale_ups.clear();
    absl::MutexLock lock(&mutex_);
    Shard& shard = ShardFor(record.managed->key);
    if (!shard.loaded) return;
    HeldState& held = shard.states[record.managed->key];
    if (held.untaken && !record.restored) return AddTo(held, decision, shard);
    // A zero that somebody else has set is no recommendation, and must not look like one to the
    // next owner. An owner that has read one for zero does not know at its first decision whether
    // an earlier owner has put the target to sleep.
    if (decision.outcome == Outcome::kSwitchedOff && !(held.as_read && EndsInZero(held.state))) {
      while (EndsInZero(compact)) compact.recommendations.pop_back();
    }
    const int32_t replicas = record.scale_written ? decision.desired : decision.current;
    if (held.untaken || held.replicas != replicas || !SameValues(held.state, compact) ||
        NewestRecommendation(compact) - held.written_newest >= kTimesWorthAWrite) {
      shard.changed = true;
    }
    // With a smaller count than the true one the next owner could not compute what was removed.
    if (record.scale_written || replicas > held.replicas) held.change_unsaved = true;
    const bool grows = record.mode == Mode::kAct &&
                       RecommendedNow(compact, *record.managed) >
                           std::max(replicas, RecommendedNow(held.state, *record.managed));
    const bool to_sleep =
        decision.desired == 0 && replicas > 0 && EndsInZero(compact) && !held.zero_saved;
    if (grows || to_sleep || !held.IsSafe()) shard.urgent = shard.changed = true;
    held.untaken = held.as_read = false;
    held.paused_at.reset();
    held.steadiness = nullptr;
    held.replicas = replicas;
    held.wall_offset = record.wall_offset.value_or(WallOffset());
    held.seen = clock_.MonotonicNow();
    std::swap(held.state, compact);
  }

  bool IsSafe(const AutoscalerKey& key, int32_t current) {
    absl::MutexLock lock(&mutex_);
    const Shard& shard = ShardFor(key);
    // If nothing can be read or written there is no reason to wait.
    if (!shard.loaded || shard.MayNotBeWritten()) return true;
    const auto found = shard.states.find(key);
    return found != shard.states.end() && found->second.IsSafe() &&
           found->second.replicas >= current;
  }

  bool TellsOfSleep(const AutoscalerKey& key) {
    absl::MutexLock lock(&mutex_);
    const Shard& shard = ShardFor(key);
    if (!shard.loaded || shard.MayNotBeWritten()) return true;
    const auto found = shard.states.find(key);
    if (found == shard.states.end()) return false;
    const HeldState& held = found->second;
    return held.zero_saved && (!held.under_way || held.zero_under_way);
  }

  void OnSteady(const AutoscalerKey& key, int32_t recommendation, const SteadinessPtr& steadiness) {
    absl::MutexLock lock(&mutex_);
    Shard& shard = ShardFor(key);
    const auto found = shard.states.find(key);
    if (found == shard.states.end()) return;
    found->second.steadiness = steadiness;
    found->second.recommendation = recommendation;
  }

  void OnForgotten(const AutoscalerKey& key) {
    absl::MutexLock lock(&mutex_);
    Shard& shard = ShardFor(key);
    if (shard.states.erase(key) > 0) shard.changed = true;
  }

  void WriteWhatChanged() {
    for (int index = 0; index < options_.shards; ++index) Write(index, false);
  }

  Stats stats() const {
    absl::MutexLock lock(&mutex_);
    return stats_;
  }

 private:
  struct HeldState {
    bool untaken = false;  // it comes from an earlier owner, and Take was not called yet
    bool as_read = false;  // it comes from an earlier owner, and nothing was decided since
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

  void NotePause(const AutoscalerKey& key, int32_t current) {
    absl::MutexLock lock(&mutex_);
    Shard& shard = ShardFor(key);
    const auto found = shard.states.find(key);
    if (found != shard.states.end()) found->second.paused_at = current;
  }

  // An owner that does not see the scale cannot compare the record with the count, and decides
  // without it. It makes nothing smaller, but the next owner must know its recommendations.
  void AddTo(HeldState& held, const Decision& decision, Shard& shard) const {
    if (decision.outcome != Outcome::kDecided) return;
    FollowClock(held);
    ScalerState all = held.state;
    all.recommendations.push_back({decision.recommendation, decision.now});
    CompactState(all, held.state);
    held.seen = clock_.MonotonicNow();
    shard.changed = true;
  }

  Shard& ShardFor(const AutoscalerKey& key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return shards_[static_cast<size_t>(ShardOf(key, options_.shards))];
  }

  absl::Duration WallOffset() const {
    return clock_.WallNow() - absl::UnixEpoch() - clock_.MonotonicNow();
  }

  // Moves the times if the wall clock was set since they were taken.
  void FollowClock(HeldState& held) const {
    const absl::Duration offset = WallOffset();
    const absl::Duration jump = offset - std::exchange(held.wall_offset, offset);
    if (IsClockJump(jump)) ShiftTimes(jump, held.state);
  }

  static void TakeRounds(HeldState& held) {
    const absl::Time last = held.LastRound();
    if (last > absl::InfinitePast()) RenewRecommendation(held.recommendation, last, held.state);
  }

  // Whether the rounds of steady autoscalers alone make a write worth while. That is checked once
  // in an interval, since it has to look at all of them.
  bool SteadyLong(Shard& shard) const {
    const MonotonicTime now = clock_.MonotonicNow();
    if (now - shard.looked_at < options_.interval) return false;
    shard.looked_at = now;
    return std::any_of(shard.states.begin(), shard.states.end(), [](const auto& item) {
      const absl::Time last = item.second.LastRound();
      return last > absl::InfinitePast() && last - item.second.written_newest >= kTimesWorthAWrite;
    });
  }

  // The content of a shard, the most recently decided autoscalers first, one of each namespace in
  // turn: if there is no room for all, none takes the room of the others. At a hand-over it is
  // complete: the count stands for decisions that nobody saved, both of autoscalers whose state was
  // incomplete when it was read and that were not decided since, and of paused ones.
  KeptShard Collect(Shard& shard, bool hand_over) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    KeptShard out;
    out.saved_at = clock_.WallNow();
    out.complete = hand_over;
    const absl::Time oldest = out.saved_at - options_.longest_window;
    for (auto& [key, held] : shard.states) {
      TakeRounds(held);
      FollowClock(held);
      const bool lacks_some = held.paused_at.has_value() || (held.as_read && !shard.complete);
      if (!hand_over || !lacks_some) continue;
      held.state.scale_ups.clear();
      const int32_t count = held.paused_at.value_or(held.replicas);
      // Zero holds nothing back, and would look like a recommendation to put the target to sleep.
      if (count == 0) continue;
      held.state.recommendations.push_back({.replicas = count, .time = out.saved_at});
    }
    const MonotonicTime long_ago = clock_.MonotonicNow() - options_.longest_window;
    absl::erase_if(shard.states, [&](const auto& item) {
      return NewestRecommendation(item.second.state) < oldest && item.second.seen < long_ago;
    });
    for (auto& [key, held] : shard.states) {
      held.written_newest = NewestRecommendation(held.state);
      held.under_way = true;
      held.change_under_way = std::exchange(held.change_unsaved, false);
      held.zero_under_way = EndsInZero(held.state);
      out.autoscalers.push_back({.key = key, .replicas = held.replicas, .state = held.state});
    }
    OrderForRecord(out.autoscalers);
    return out;
  }

  // Writes a shard: at a hand-over in any case, otherwise if it has changed, is due and the fence
  // allows it.
  void Write(int index, bool hand_over) {
    KeptShard kept;
    ShardTerm record;
    std::string resource_version;
    {
      absl::MutexLock lock(&mutex_);
      Shard& shard = shards_[static_cast<size_t>(index)];
      const auto idle = [&shard] { return !shard.writing; };
      clock_.Await(mutex_, absl::Condition(&idle), absl::InfiniteDuration());
      if (!shard.loaded) return;
      // Large records are not written all the time.
      absl::Duration wait =
          shard.urgent ? std::max(options_.soonest, 10 * shard.write_took) : options_.interval;
      wait = std::max(wait, shard.pause);
      const bool due = clock_.MonotonicNow() - shard.written_at >= wait;
      if (!hand_over && (!due || (!shard.changed && !SteadyLong(shard)))) return;
      if (shard.states.empty() && shard.resource_version.empty()) return;
      // At a hand-over the Lease is still ours, but writes to targets are not allowed any more.
      if (!hand_over && may_write_ && !may_write_(index)) return;
      shard.writing = true;
      shard.changed = shard.urgent = false;
      shard.written_at = clock_.MonotonicNow();
      kept = Collect(shard, hand_over);
      record = shard.record;
      resource_version = shard.resource_version;
    }
    const EncodedShard encoded = EncodeShard(kept, options_.most_bytes);
    const absl::StatusOr<std::string> put =
        records_.Put(index, record, encoded.bytes, resource_version);
    Finish(index, record.epoch, encoded.dropped, put);
    if (absl::IsAborted(put.status())) CountOn(index, record.epoch);
  }

  // An owner of a later term has written the record. The next write asks the fence again: if it
  // allows the write, that owner is gone, and somebody has emptied the Lease, whose count starts
  // again.
  void CountOn(int index, int64_t epoch) {
    StateRecord stored;
    KeptShard kept;
    if (!records_.Read(index, stored, kept).ok()) return;
    absl::MutexLock lock(&mutex_);
    Shard& shard = shards_[static_cast<size_t>(index)];
    if (!shard.loaded || shard.writing || shard.record.epoch != epoch) return;
    if (stored.epoch > epoch) shard.record.epoch = stored.epoch + 1;
    shard.record.division = std::max(shard.record.division, stored.division);
    shard.resource_version = stored.resource_version;
  }

  void Finish(int index, int64_t epoch, size_t dropped,
              const absl::StatusOr<std::string>& resource_version) {
    absl::MutexLock lock(&mutex_);
    Shard& shard = shards_[static_cast<size_t>(index)];
    shard.writing = false;
    stats_.dropped += dropped;
    ++(resource_version.ok() ? stats_.written : stats_.failed);
    const std::string failure(resource_version.status().message());
    std::string before;
    if (shard.loaded && shard.record.epoch == epoch) {
      before = std::exchange(shard.failure, failure);
      if (resource_version.ok()) {
        shard.resource_version = *resource_version;
        shard.write_took = clock_.MonotonicNow() - shard.written_at;
        shard.pause = absl::ZeroDuration();
      } else {
        shard.changed = shard.urgent = true;
        shard.pause = std::min(std::max(2 * shard.pause, options_.soonest), options_.interval);
      }
      shard.refusals = absl::IsPermissionDenied(resource_version.status()) ? shard.refusals + 1 : 0;
      for (auto& [key, held] : shard.states) EndOfWrite(resource_version.ok(), held);
      if (dropped > 0 && !shard.said_dropped) {
        spdlog::warn(
            "{}: no room for {} of {} autoscalers: after a restart they begin anew; use more "
            "--scaler-shards",
            records_.NameForLog(index), dropped, shard.states.size());
      }
      shard.said_dropped = dropped > 0;
    }
    if (failure == before) return;
    if (failure.empty()) {
      spdlog::info("{}: what the scaler remembers is written again", records_.NameForLog(index));
    } else {
      spdlog::warn("{}: what the scaler remembers cannot be written: {}",
                   records_.NameForLog(index), failure);
    }
  }

  static void EndOfWrite(bool written, HeldState& held) {
    const bool collected = std::exchange(held.under_way, false);
    const bool change = std::exchange(held.change_under_way, false);
    // If the write failed either may be in the record.
    if (collected) held.zero_saved = held.zero_under_way && (written || held.zero_saved);
    if (written) {
      held.saved = held.saved || collected;
    } else {
      held.change_unsaved = held.change_unsaved || change;
    }
  }

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

StateStore::StateStore(StateStoreOptions options, kube::ApiClient& client, Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), client, clock)) {}
StateStore::~StateStore() = default;

void StateStore::UseFence(std::function<bool(int shard)> may_write) {
  impl_->UseFence(std::move(may_write));
}
void StateStore::Start() { impl_->Start(); }
void StateStore::Stop() { impl_->Stop(); }
absl::Status StateStore::Move(int before, int64_t division) {
  return impl_->Move(before, division);
}
absl::Status StateStore::Load(int shard, const ShardTerm& term) { return impl_->Load(shard, term); }
void StateStore::Save(int shard) { impl_->Save(shard); }
void StateStore::Drop(int shard) { impl_->Drop(shard); }
bool StateStore::IsSafe(const AutoscalerKey& key, int32_t current) {
  return impl_->IsSafe(key, current);
}
bool StateStore::TellsOfSleep(const AutoscalerKey& key) { return impl_->TellsOfSleep(key); }
std::optional<RememberedState> StateStore::Take(const AutoscalerKey& key, int32_t current,
                                                absl::Time now) {
  return impl_->Take(key, current, now);
}
void StateStore::OnDecision(const DecisionRecord& record) { impl_->OnDecision(record); }
void StateStore::OnForgotten(const AutoscalerKey& key) { impl_->OnForgotten(key); }
void StateStore::OnSteady(const AutoscalerKey& key, int32_t recommendation,
                          const SteadinessPtr& steadiness) {
  impl_->OnSteady(key, recommendation, steadiness);
}
void StateStore::WriteWhatChanged() { impl_->WriteWhatChanged(); }
StateStore::Stats StateStore::stats() const { return impl_->stats(); }

}  // namespace flyball::scaler
