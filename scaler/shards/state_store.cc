#include "scaler/shards/state_store.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/go/arithmetic.h"
#include "base/status_macros.h"
#include "scaler/stores/state_upkeep.h"
#include "scaler/stores/watch_health.h"

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

StateStore::StateStore(StateStoreOptions options, kube::ApiClient& client, Clock& clock)
    : options_(std::move(options)),
      records_(options_.ns, options_.prefix, client, clock),
      clock_(clock),
      step_(std::max(std::min(options_.interval / 8, options_.soonest), absl::Milliseconds(10))),
      shards_(static_cast<size_t>(options_.shards)),
      thread_(clock_, [this] {
        WriteWhatChanged();
        return step_;
      }) {}

StateStore::~StateStore() { Stop(); }

void StateStore::UseFence(std::function<bool(int)> may_write) {
  absl::MutexLock lock(&mutex_);
  may_write_ = std::move(may_write);
}

void StateStore::Start() { thread_.Start(step_); }
void StateStore::Stop() { thread_.Stop(); }

absl::StatusOr<bool> StateStore::IsAnySaved() {
  for (int index = 0; index < options_.shards; ++index) {
    StateRecord stored;
    KeptShard kept;
    RETURN_IF_ERROR(records_.Read(index, stored, kept));
    if (!stored.resource_version.empty()) return true;
  }
  return false;
}

absl::Status StateStore::Move(int before, int64_t division) {
  return MoveStates(records_, clock_, before, options_.shards, division, options_.most_bytes);
}

absl::Status StateStore::Load(int index, const ShardTerm& term) {
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
  shard.complete =
      kept.complete && !again && stored.epoch + 1 == term.epoch && stored.division == term.division;
  shard.written_at = clock_.MonotonicNow();
  for (KeptAutoscaler& item : kept.autoscalers) {
    if (ShardOf(item.key, options_.shards) != index) continue;
    HeldState& held = shard.states[item.key];
    held.untaken = held.as_read = true;
    held.read_at = clock_.MonotonicNow();
    held.replicas = item.replicas;
    held.state = std::move(item.state);
    held.saved = true;
    held.zero_saved = EndsInZero(held.state);
    held.wall_offset = WallOffset();
    held.seen = clock_.MonotonicNow();
  }
  return absl::OkStatus();
}

void StateStore::Save(int index) { Write(index, true); }

void StateStore::Drop(int index) {
  absl::MutexLock lock(&mutex_);
  Shard& shard = shards_[static_cast<size_t>(index)];
  const std::optional<int64_t> loaded_epoch = shard.loaded_epoch;
  shard = Shard();
  shard.loaded_epoch = loaded_epoch;
}

std::optional<RememberedState> StateStore::Take(const AutoscalerKey& key, int32_t current,
                                                absl::Time now) {
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
    complete = shard.complete && !std::exchange(found->second.outlived, false);
  }
  // An addition that is not written down may have replaced earlier ones.
  return RememberedState{.state = BringForward(kept, complete, current, now, options_),
                         .complete = complete && current <= kept.replicas,
                         .put_to_sleep = current == 0 && EndsInZero(kept.state)};
}

void StateStore::OnDecision(const DecisionRecord& record) {
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
  if (held.untaken && !record.restored) return AddTo(held, record, shard);
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
  held.steadiness = record.prolonged;
  held.recommendation = decision.recommendation;
  held.replicas = replicas;
  held.wall_offset = record.wall_offset.value_or(WallOffset());
  held.seen = clock_.MonotonicNow();
  std::swap(held.state, compact);
}

bool StateStore::IsSafe(const AutoscalerKey& key, int32_t current) {
  absl::MutexLock lock(&mutex_);
  const Shard& shard = ShardFor(key);
  // If nothing can be read or written there is no reason to wait.
  if (!shard.loaded || shard.MayNotBeWritten()) return true;
  const auto found = shard.states.find(key);
  return found != shard.states.end() && found->second.IsSafe() && found->second.replicas >= current;
}

bool StateStore::TellsOfSleep(const AutoscalerKey& key) {
  absl::MutexLock lock(&mutex_);
  const Shard& shard = ShardFor(key);
  if (!shard.loaded || shard.MayNotBeWritten()) return true;
  const auto found = shard.states.find(key);
  if (found == shard.states.end()) return false;
  const HeldState& held = found->second;
  return held.zero_saved && (!held.under_way || held.zero_under_way);
}

void StateStore::OnSteady(const AutoscalerKey& key, int32_t recommendation,
                          const SteadinessPtr& steadiness) {
  absl::MutexLock lock(&mutex_);
  Shard& shard = ShardFor(key);
  const auto found = shard.states.find(key);
  if (found == shard.states.end()) return;
  found->second.steadiness = steadiness;
  found->second.recommendation = recommendation;
}

void StateStore::OnForgotten(const AutoscalerKey& key) {
  absl::MutexLock lock(&mutex_);
  Shard& shard = ShardFor(key);
  const auto found = shard.states.find(key);
  if (found == shard.states.end()) return;
  // A watch may be late: the end that it tells of may have come before what was read, which is then
  // of the object that has taken the name since.
  const std::optional<MonotonicTime> read_at = found->second.read_at;
  if (read_at.has_value() && clock_.MonotonicNow() - *read_at <= kStaleAfter) {
    found->second.untaken = found->second.outlived = true;
    return;
  }
  shard.states.erase(found);
  shard.changed = true;
}

void StateStore::WriteWhatChanged() {
  for (int index = 0; index < options_.shards; ++index) Write(index, false);
}

StateStore::Stats StateStore::stats() const {
  absl::MutexLock lock(&mutex_);
  return stats_;
}

void StateStore::NotePause(const AutoscalerKey& key, int32_t current) {
  absl::MutexLock lock(&mutex_);
  Shard& shard = ShardFor(key);
  const auto found = shard.states.find(key);
  if (found != shard.states.end()) found->second.paused_at = current;
}

// An owner that does not see the scale cannot compare the record with the count, and decides
// without it. It makes nothing smaller, but the next owner must know its recommendations.
void StateStore::AddTo(HeldState& held, const DecisionRecord& record, Shard& shard) const {
  const Decision& decision = *record.decision;
  if (decision.outcome != Outcome::kDecided) return;
  TakeRounds(held);
  FollowClock(held);
  ScalerState all = held.state;
  all.recommendations.push_back({decision.recommendation, decision.now});
  CompactState(all, held.state);
  held.steadiness = record.prolonged;
  held.recommendation = decision.recommendation;
  held.seen = clock_.MonotonicNow();
  shard.changed = true;
}

void StateStore::FollowClock(HeldState& held) const {
  const absl::Duration offset = WallOffset();
  const absl::Duration jump = offset - std::exchange(held.wall_offset, offset);
  if (IsClockJump(jump)) ShiftTimes(jump, held.state);
}

void StateStore::TakeRounds(HeldState& held) {
  const absl::Time last = held.LastRound();
  if (last > absl::InfinitePast()) RenewRecommendation(held.recommendation, last, held.state);
}

// Whether the rounds of steady autoscalers alone make a write worth while. That is checked once
// in an interval, since it has to look at all of them.
bool StateStore::SteadyLong(Shard& shard) const {
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
KeptShard StateStore::Collect(Shard& shard, bool hand_over) {
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

void StateStore::Write(int index, bool hand_over) {
  KeptShard kept;
  ShardTerm record;
  std::string resource_version;
  {
    absl::MutexLock lock(&mutex_);
    Shard& shard = shards_[static_cast<size_t>(index)];
    const auto idle = [&shard] { return !shard.writing; };
    clock_.Await(mutex_, absl::Condition(&idle), absl::InfiniteDuration());
    if (!shard.loaded) return;
    // Large records are not written all the time. But nothing that is urgent waits longer than what
    // is not, as after a single write that was slow.
    absl::Duration wait = options_.interval;
    if (shard.urgent) {
      wait = std::min(wait, std::max(options_.soonest, 10 * shard.write_took));
    }
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
void StateStore::CountOn(int index, int64_t epoch) {
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

void StateStore::Finish(int index, int64_t epoch, size_t dropped,
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
    spdlog::warn("{}: what the scaler remembers cannot be written: {}", records_.NameForLog(index),
                 failure);
  }
}

void StateStore::EndOfWrite(bool written, HeldState& held) {
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

}  // namespace flyball::scaler
