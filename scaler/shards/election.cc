#include "scaler/shards/election.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/repeating_thread.h"
#include "scaler/shards/lease_keeper.h"
#include "scaler/shards/members.h"
#include "scaler/shards/memory_load.h"
#include "scaler/shards/shard_count.h"
#include "scaler/shards/shards.h"

namespace flyball::scaler {
namespace {

// The jitter factor of client-go.
constexpr double kRetryJitter = 1.2;
// How long, once a shard is being handed over, earlier decisions are still written: longer than any
// status waits.
constexpr absl::Duration kLastWrites = absl::Seconds(2);

}  // namespace

absl::Status CheckElection(const ElectionOptions& options) {
  if (options.shards < 1 || options.shards > kMaxShards) {
    return absl::InvalidArgumentError(
        absl::StrCat("--scaler-shards: ", options.shards, " is not between 1 and ", kMaxShards));
  }
  if (options.retry_period <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("--scaler-lease-retry-period: expected more than 0");
  }
  if (options.renew_deadline <= options.retry_period * kRetryJitter) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--scaler-lease-renew-deadline: ", absl::FormatDuration(options.renew_deadline),
        " must be more than ", kRetryJitter, " times --scaler-lease-retry-period (",
        absl::FormatDuration(options.retry_period), ")"));
  }
  if (options.lease_duration <= options.renew_deadline) {
    return absl::InvalidArgumentError(
        absl::StrCat("--scaler-lease-duration: ", absl::FormatDuration(options.lease_duration),
                     " must be more than --scaler-lease-renew-deadline (",
                     absl::FormatDuration(options.renew_deadline),
                     "): the difference is what a write may take"));
  }
  if (options.lease_duration > kLongestLease ||
      absl::Trunc(options.lease_duration, absl::Seconds(1)) != options.lease_duration) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--scaler-lease-duration: ", absl::FormatDuration(options.lease_duration),
        ": expected whole seconds, ", absl::FormatDuration(kLongestLease), " at most"));
  }
  return absl::OkStatus();
}

class ShardElection::Impl {
 public:
  Impl(ElectionOptions options, LeaseStore& leases, ShardMemory* memory, Clock& clock)
      : options_(std::move(options)),
        memory_(memory),
        clock_(clock),
        keeper_({.ns = options_.ns,
                 .identity = options_.identity,
                 .lease_duration = options_.lease_duration,
                 .renew_deadline = options_.renew_deadline},
                leases, clock),
        members_(keeper_, options_.prefix, options_.identity),
        count_(keeper_, options_.prefix, options_.shards, memory, clock),
        shards_(static_cast<size_t>(options_.shards)),
        published_(static_cast<size_t>(options_.shards)),
        thread_(clock_, [this] { return Round(); }) {
    for (size_t i = 0; i < shards_.size(); ++i) {
      shards_[i].watched = keeper_.Watch(absl::StrCat(options_.prefix, "-", i));
    }
  }

  ~Impl() { Stop(); }

  void Start() { thread_.Start(); }

  void Stop() {
    {
      absl::MutexLock lock(&mutex_);
      if (std::exchange(stopped_, true)) return;
    }
    thread_.Stop();
    // The membership goes first, so that no replica assigns shards to this one any more.
    members_.Leave();
    for (size_t i = 0; i < shards_.size(); ++i) {
      Shard& shard = shards_[i];
      if (!shard.watched.held) continue;
      const bool owned = published_[i].owned.exchange(false);
      published_[i].valid_until.store(0);
      if (memory_ != nullptr && (owned || shard.hand_over_at.has_value())) {
        memory_->Save(static_cast<int>(i));
        memory_->Drop(static_cast<int>(i));
      }
      keeper_.Release(shard.watched);
    }
  }

  absl::Duration Round() {
    const MonotonicTime start = clock_.MonotonicNow();
    keeper_.ForgetError();
    changed_ = false;
    memory_took_ = absl::ZeroDuration();
    load_failed_ = false;
    // The Leases that we hold come first, since only these can run out.
    for (size_t i = 0; i < shards_.size(); ++i) {
      if (shards_[i].watched.held) RenewShard(i);
    }
    MonotonicTime next = clock_.MonotonicNow() + options_.retry_period;
    switch (count_.Round()) {
      case ShardCount::State::kOurs: next = std::min(next, Divide(start)); break;
      case ShardCount::State::kOther:
        members_.Leave();
        for (size_t i = 0; i < shards_.size(); ++i) {
          if (shards_[i].watched.held) HandOver(i, "replicas with another number of shards");
        }
        break;
      case ShardCount::State::kUnknown:  // nothing is taken or handed over
        break;
    }
    const size_t first = next_load_;
    for (size_t k = 0; k < shards_.size(); ++k) LoadAndPublish((first + k) % shards_.size());
    {
      absl::MutexLock lock(&mutex_);
      ready_ = keeper_.error();
    }
    if (changed_) TellOfChange();
    return std::max(next - clock_.MonotonicNow(), absl::ZeroDuration());
  }

  // Determines which replica each shard belongs with, and takes or hands over accordingly. Returns
  // the time of the next call. No Lease of ours is renewed meanwhile: in a round that takes long
  // only one other is looked at, and the next round goes on there.
  MonotonicTime Divide(MonotonicTime round_start) {
    std::vector<size_t> wanted(shards_.size(), 0);
    std::vector<std::string> living = {options_.identity};
    if (shards_.size() > 1) {
      members_.Round();
      living = members_.Living();
      wanted = AssignShards(options_.shards, living);
    }
    MonotonicTime next = absl::InfiniteDuration();
    bool looked = false;
    std::optional<size_t> left;  // the first that was not looked at
    const size_t first = next_look_;
    for (size_t k = 0; k < shards_.size(); ++k) {
      const size_t i = (first + k) % shards_.size();
      const bool ours = living[wanted[i]] == options_.identity;
      if (shards_[i].watched.held) {
        ConsiderHandOver(i, ours, living[wanted[i]]);
      } else if (looked && clock_.MonotonicNow() - round_start >= options_.renew_deadline / 2) {
        if (!left.has_value()) left = i;
      } else {
        looked = true;
        next = std::min(next, ConsiderTaking(i, ours));
      }
    }
    next_look_ = left.value_or(0);
    ConfirmTaken();
    return next;
  }

  bool Owns(size_t shard) const { return published_[shard].owned.load(); }

  uint64_t Term(size_t shard) const { return published_[shard].term.load(); }

  bool Remembers(size_t shard) const { return published_[shard].remembers.load(); }

  bool MayWrite(size_t shard, MonotonicTime now) const {
    return absl::ToInt64Nanoseconds(now) < published_[shard].valid_until.load();
  }

  size_t owned() const {
    return static_cast<size_t>(std::count_if(published_.begin(), published_.end(),
                                             [](const auto& item) { return item.owned.load(); }));
  }

  absl::Status Ready() const {
    absl::MutexLock lock(&mutex_);
    return ready_;
  }

  void OnChange(std::function<void()> on_change) {
    absl::MutexLock lock(&mutex_);
    on_change_ = std::move(on_change);
  }

  const ElectionOptions& options() const { return options_; }
  ShardMemory* memory() const { return memory_; }

 private:
  // What other threads read.
  struct Published {
    std::atomic<bool> owned = false;
    std::atomic<uint64_t> term = 0;        // how often it became owned
    std::atomic<bool> remembers = false;   // the saved state is loaded
    std::atomic<int64_t> valid_until = 0;  // nanoseconds; 0: no writes
  };

  struct Shard {
    WatchedLease watched;
    bool confirmed = false;  // the agreed number of shards was ours after this one was taken
    MemoryLoad load;         // of its saved state
    std::optional<MonotonicTime> unwanted_since;  // since when it belongs with another replica
    std::optional<MonotonicTime> hand_over_at;    // no longer decided; to be released at this time
    MonotonicTime may_have_written = -absl::InfiniteDuration();  // the last moment
  };

  void RenewShard(size_t i) {
    Shard& shard = shards_[i];
    // A shard that is being handed over is not renewed, so that the next owner need not wait longer
    // if this process dies now.
    if (shard.hand_over_at.has_value()) return;
    // A Lease that ran out before we could renew it has to be taken anew, like any other.
    if (clock_.MonotonicNow() >= shard.watched.valid_until) {
      shard.watched.held = false;
    } else {
      keeper_.Renew(shard.watched);
    }
    if (shard.watched.held) {
      if (published_[i].owned.load()) Publish(i);
      return;
    }
    if (published_[i].owned.load()) {
      spdlog::warn("scaler shard {} of {} is lost: {}", i, shards_.size(),
                   shard.watched.lease.holder == options_.identity || shard.watched.free()
                       ? "its lease could not be renewed in time"
                       : absl::StrCat("its lease is held by ", shard.watched.lease.holder));
    }
    Disown(i);
  }

  // The term changes first: a write of an earlier term, which asks MayWrite and then for the term,
  // must not pass in between.
  void Publish(size_t i) {
    const bool owned = published_[i].owned.load();
    if (!owned) published_[i].term.fetch_add(1);
    published_[i].valid_until.store(absl::ToInt64Nanoseconds(shards_[i].watched.valid_until));
    if (owned) return;
    published_[i].owned.store(true);
    changed_ = true;
  }

  // The shard is no longer decided here, although the Lease may still be ours.
  void StopDeciding(size_t i) {
    const MonotonicTime allowed = absl::Nanoseconds(published_[i].valid_until.exchange(0));
    shards_[i].may_have_written =
        std::max(shards_[i].may_have_written, std::min(allowed, clock_.MonotonicNow()));
    if (published_[i].owned.exchange(false)) changed_ = true;
  }

  void Disown(size_t i) {
    StopDeciding(i);
    Shard& shard = shards_[i];
    if (shard.load.done() && memory_ != nullptr) memory_->Drop(static_cast<int>(i));
    published_[i].remembers.store(false);
    shard.confirmed = false;
    shard.load = {};
    shard.unwanted_since.reset();
    shard.hand_over_at.reset();
  }

  // Hands a shard of ours over if it has belonged with another replica for long enough.
  void ConsiderHandOver(size_t i, bool ours, const std::string& wanted) {
    Shard& shard = shards_[i];
    const MonotonicTime now = clock_.MonotonicNow();
    if (shard.hand_over_at.has_value()) return HandOver(i, wanted);
    if (ours) {
      shard.unwanted_since.reset();
      return;
    }
    if (!shard.unwanted_since.has_value()) shard.unwanted_since = now;
    if (now - *shard.unwanted_since < options_.lease_duration) return;
    HandOver(i, wanted);
  }

  // Begins to hand a shard over, or completes that once nothing can be written any more.
  void HandOver(size_t i, const std::string& to) {
    Shard& shard = shards_[i];
    const MonotonicTime now = clock_.MonotonicNow();
    if (shard.hand_over_at.has_value()) {
      if (now < *shard.hand_over_at || !HasTimeForMemory()) return;
      if (memory_ != nullptr) memory_->Save(static_cast<int>(i));
      memory_took_ += clock_.MonotonicNow() - now;
      return GiveBack(i);
    }
    if (!published_[i].owned.load()) {  // nothing was decided in it since it was taken
      if (MayRelease(shard)) GiveBack(i);
      return;
    }
    spdlog::info("scaler shard {} of {} is handed over to {}", i, shards_.size(), to);
    StopDeciding(i);
    // Earlier decisions are still written; the last of these writes ends within the margin.
    const MonotonicTime last = std::min(shard.watched.valid_until, now + kLastWrites);
    published_[i].valid_until.store(absl::ToInt64Nanoseconds(last));
    shard.hand_over_at = last + options_.WriteMargin();
  }

  // Whether no write can be under way any more, also from before the shard was lost and taken
  // again.
  bool MayRelease(const Shard& shard) const {
    return clock_.MonotonicNow() >= shard.may_have_written + options_.WriteMargin();
  }

  void GiveBack(size_t i) {
    Disown(i);
    keeper_.Release(shards_[i].watched);
  }

  // Takes a shard that is not ours if that is allowed. Returns when to look at it again.
  MonotonicTime ConsiderTaking(size_t i, bool ours) {
    WatchedLease& watched = shards_[i].watched;
    const MonotonicTime later = clock_.MonotonicNow() + options_.retry_period;
    if (!keeper_.Read(watched)) return later;
    const MonotonicTime now = clock_.MonotonicNow();
    MonotonicTime at = keeper_.RunsOut(watched);
    if (keeper_.IsOurs(watched)) at = now;  // it ran out for us, or an answer got lost
    if (watched.free()) at = ours ? now : watched.changed + 2 * options_.retry_period;
    // A Lease that somebody deleted or emptied may still be held: then its owner takes it again.
    if (watched.missing() || watched.emptied()) at = keeper_.RunsOut(watched);
    if (count_.SawEnded(i, watched)) at = now;
    if (now < at) {
      if (watched.missing()) keeper_.MakeEmptied(watched);
      return std::min(at, later);
    }
    const std::string before = watched.lease.holder;
    absl::Status status = keeper_.Take(watched);
    if (absl::IsAlreadyExists(status) && keeper_.Read(watched) && count_.SawEnded(i, watched)) {
      status = keeper_.Take(watched);
    }
    if (status.ok()) {
      shards_[i].confirmed = false;
      spdlog::info("scaler shard {} of {} is taken{}", i, shards_.size(),
                   before.empty() || before == options_.identity
                       ? ""
                       : absl::StrCat(", the lease of ", before, " has run out"));
    } else if (!absl::IsAborted(status) && !absl::IsAlreadyExists(status)) {
      keeper_.Note(watched, status);
    }
    return later;
  }

  // Confirms the shards that were taken in this round, or in an earlier one that could not confirm
  // them. They are given back if the agreed number of shards has changed meanwhile.
  void ConfirmTaken() {
    const auto taken = [](const Shard& shard) { return shard.watched.held && !shard.confirmed; };
    if (std::none_of(shards_.begin(), shards_.end(), taken)) return;
    const bool ours = count_.Confirm();
    for (Shard& shard : shards_) {
      if (!taken(shard)) continue;
      shard.confirmed = ours;
      if (!ours && MayRelease(shard)) keeper_.Release(shard.watched);
    }
  }

  void LoadAndPublish(size_t i) {
    Shard& shard = shards_[i];
    if (!shard.watched.held || !shard.confirmed || shard.hand_over_at.has_value() ||
        (shard.load.done() && published_[i].owned.load())) {
      return;
    }
    if (!shard.load.done() && !Load(i) && !shard.load.failed_often()) return;
    published_[i].remembers.store(shard.load.done());
    if (published_[i].owned.load()) {
      changed_ = changed_ || shard.load.done();
    } else if (clock_.MonotonicNow() < shard.watched.valid_until) {
      Publish(i);
    }
  }

  // Loads the shard's saved state. False: it is not known yet.
  bool Load(size_t i) {
    Shard& shard = shards_[i];
    if (!HasTimeForMemory()) {
      // It need not be waited for longer than the one that was tried.
      if (load_failed_) shard.load.Skip(static_cast<int>(i));
      return false;
    }
    const MonotonicTime start = clock_.MonotonicNow();
    const bool loaded =
        shard.load.Try(memory_, static_cast<int>(i),
                       {.epoch = shard.watched.lease.transitions, .division = count_.term()});
    memory_took_ += clock_.MonotonicNow() - start;
    load_failed_ = !loaded;
    next_load_ = i + 1;
    return loaded;
  }

  // Whether this round may still read or save what is remembered. Each time may last as long as a
  // request may, and no Lease is renewed meanwhile: with several shards all Leases would run out,
  // again and again. The first time in a round is always allowed.
  bool HasTimeForMemory() const {
    return memory_took_ < std::min(options_.retry_period, options_.renew_deadline / 4);
  }

  void TellOfChange() {
    std::function<void()> on_change;
    {
      absl::MutexLock lock(&mutex_);
      on_change = on_change_;
    }
    if (on_change) on_change();
  }

  const ElectionOptions options_;
  ShardMemory* const memory_;
  Clock& clock_;

  // Used by the election's thread alone.
  LeaseKeeper keeper_;
  Members members_;
  ShardCount count_;
  std::vector<Shard> shards_;
  bool changed_ = false;
  absl::Duration memory_took_;  // how long this round has read and saved what is remembered
  bool load_failed_ = false;    // its last read
  size_t next_load_ = 0;        // the shard with which the next round begins to read
  size_t next_look_ = 0;        // the shard with which the next round begins to look at Leases

  std::vector<Published> published_;

  mutable absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status ready_ ABSL_GUARDED_BY(mutex_) =
      absl::UnavailableError("the leases of the shards have not been read yet");
  std::function<void()> on_change_ ABSL_GUARDED_BY(mutex_);
  RepeatingThread thread_;
};

ShardElection::ShardElection(ElectionOptions options, LeaseStore& leases, ShardMemory* memory,
                             Clock& clock)
    : impl_(std::make_unique<Impl>(std::move(options), leases, memory, clock)) {}
ShardElection::~ShardElection() = default;

void ShardElection::Start() { impl_->Start(); }
void ShardElection::Stop() { impl_->Stop(); }
absl::Duration ShardElection::Round() { return impl_->Round(); }

bool ShardElection::Owns(const AutoscalerKey& key) const {
  return OwnsShard(ShardOf(key, impl_->options().shards));
}

bool ShardElection::MayWrite(const AutoscalerKey& key, MonotonicTime now) const {
  return MayWriteShard(ShardOf(key, impl_->options().shards), now);
}

uint64_t ShardElection::Term(const AutoscalerKey& key) const {
  return impl_->Term(static_cast<size_t>(ShardOf(key, impl_->options().shards)));
}

bool ShardElection::Remembers(const AutoscalerKey& key) const {
  return impl_->Remembers(static_cast<size_t>(ShardOf(key, impl_->options().shards)));
}

bool ShardElection::MayShrink(const AutoscalerKey& key, int32_t current) {
  if (!Remembers(key)) return false;
  return impl_->memory() == nullptr || impl_->memory()->IsSafe(key, current);
}

bool ShardElection::MayPutToSleep(const AutoscalerKey& key) {
  return impl_->memory() == nullptr || impl_->memory()->TellsOfSleep(key);
}

std::optional<RememberedState> ShardElection::Restore(const AutoscalerKey& key, int32_t current,
                                                      absl::Time now) {
  return impl_->memory() == nullptr ? std::nullopt : impl_->memory()->Take(key, current, now);
}

void ShardElection::OnChange(std::function<void()> on_change) {
  impl_->OnChange(std::move(on_change));
}

bool ShardElection::OwnsShard(int shard) const { return impl_->Owns(static_cast<size_t>(shard)); }

bool ShardElection::MayWriteShard(int shard, MonotonicTime now) const {
  return impl_->MayWrite(static_cast<size_t>(shard), now);
}

size_t ShardElection::owned() const { return impl_->owned(); }
absl::Status ShardElection::Ready() const { return impl_->Ready(); }

}  // namespace flyball::scaler
