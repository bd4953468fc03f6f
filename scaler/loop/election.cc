#include "scaler/loop/election.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/steady_wait.h"
#include "scaler/loop/lease_keeper.h"
#include "scaler/loop/members.h"
#include "scaler/loop/shards.h"

namespace flyball::scaler {
namespace {

// How often what is kept of a shard is asked for before it is begun without.
constexpr int kLoadTries = 4;
// With a jitter of client-go.
constexpr double kRetryJitter = 1.2;
// How long what was decided before is still written once a shard is being handed over: longer than
// any status waits.
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
        shards_(static_cast<size_t>(options_.shards)),
        published_(static_cast<size_t>(options_.shards)) {
    for (size_t i = 0; i < shards_.size(); ++i) {
      shards_[i].watched = keeper_.Watch(absl::StrCat(options_.prefix, "-", i));
    }
  }

  ~Impl() { Stop(); }

  void Start() {
    thread_ = std::thread([this] {
      for (;;) {
        const absl::Duration wait = Round();
        absl::MutexLock lock(&mutex_);
        AwaitFor(mutex_, absl::Condition(&stopping_), wait);
        if (stopping_) return;
      }
    });
  }

  void Stop() {
    {
      absl::MutexLock lock(&mutex_);
      if (stopped_) return;
      stopping_ = stopped_ = true;
    }
    if (thread_.joinable()) thread_.join();
    // First the membership, so that nobody thinks that the shards should be here.
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
    keeper_.ForgetError();
    changed_ = false;
    // What we hold comes first: only that runs out on us.
    for (size_t i = 0; i < shards_.size(); ++i) {
      if (shards_[i].watched.held) RenewShard(i);
    }
    std::vector<size_t> wanted(shards_.size(), 0);
    std::vector<std::string> living = {options_.identity};
    if (shards_.size() > 1) {
      members_.Round();
      living = members_.Living();
      wanted = AssignShards(options_.shards, living);
    }
    MonotonicTime next = clock_.MonotonicNow() + options_.retry_period;
    for (size_t i = 0; i < shards_.size(); ++i) {
      const bool ours = living[wanted[i]] == options_.identity;
      if (shards_[i].watched.held) {
        ConsiderHandOver(i, ours, living[wanted[i]]);
      } else {
        next = std::min(next, ConsiderTaking(i, ours));
      }
    }
    for (size_t i = 0; i < shards_.size(); ++i) LoadAndPublish(i);
    {
      absl::MutexLock lock(&mutex_);
      ready_ = keeper_.error();
    }
    if (changed_) TellOfChange();
    return std::max(next - clock_.MonotonicNow(), absl::ZeroDuration());
  }

  bool Owns(size_t shard) const { return published_[shard].owned.load(); }

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
    std::atomic<int64_t> valid_until = 0;  // nanoseconds; 0: no writes
  };

  struct Shard {
    WatchedLease watched;
    bool loaded = false;  // what is kept of it was read, or given up on
    int load_failures = 0;
    std::optional<MonotonicTime> unwanted_since;  // it should be with another replica
    std::optional<MonotonicTime> hand_over_at;    // no longer decided; to be released then
  };

  void RenewShard(size_t i) {
    Shard& shard = shards_[i];
    // One that is being handed over is not renewed: should we die now, nobody waits the longer.
    if (shard.hand_over_at.has_value()) return;
    keeper_.Renew(shard.watched);
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

  void Publish(size_t i) {
    published_[i].valid_until.store(absl::ToInt64Nanoseconds(shards_[i].watched.valid_until));
    if (!published_[i].owned.exchange(true)) changed_ = true;
  }

  // No longer decided here; the Lease may still be ours.
  void StopDeciding(size_t i) {
    published_[i].valid_until.store(0);
    if (published_[i].owned.exchange(false)) changed_ = true;
  }

  void Disown(size_t i) {
    StopDeciding(i);
    Shard& shard = shards_[i];
    if (shard.loaded && memory_ != nullptr) memory_->Drop(static_cast<int>(i));
    shard.loaded = false;
    shard.load_failures = 0;
    shard.unwanted_since.reset();
    shard.hand_over_at.reset();
  }

  // A shard of ours that should be with another one.
  void ConsiderHandOver(size_t i, bool ours, const std::string& wanted) {
    Shard& shard = shards_[i];
    const MonotonicTime now = clock_.MonotonicNow();
    if (shard.hand_over_at.has_value()) {
      if (now < *shard.hand_over_at) return;
      if (memory_ != nullptr) memory_->Save(static_cast<int>(i));
      Disown(i);
      keeper_.Release(shard.watched);
      return;
    }
    if (ours) {
      shard.unwanted_since.reset();
      return;
    }
    if (!shard.unwanted_since.has_value()) shard.unwanted_since = now;
    if (now - *shard.unwanted_since < options_.lease_duration) return;
    spdlog::info("scaler shard {} of {} is handed over to {}", i, shards_.size(), wanted);
    StopDeciding(i);
    // What was decided before is still written down; such a write ends within the margin.
    const MonotonicTime last = std::min(shard.watched.valid_until, now + kLastWrites);
    published_[i].valid_until.store(absl::ToInt64Nanoseconds(last));
    shard.hand_over_at = last + options_.WriteMargin();
  }

  // A shard that is not ours: taken when it may be. When to look at it again.
  MonotonicTime ConsiderTaking(size_t i, bool ours) {
    WatchedLease& watched = shards_[i].watched;
    const MonotonicTime later = clock_.MonotonicNow() + options_.retry_period;
    if (!keeper_.Read(watched)) return later;
    const MonotonicTime now = clock_.MonotonicNow();
    MonotonicTime at = keeper_.RunsOut(watched);
    if (watched.lease.holder == options_.identity) at = now;  // an answer got lost
    if (watched.free()) at = ours ? now : watched.changed + 2 * options_.retry_period;
    if (now < at) return std::min(at, later);
    const std::string before = watched.lease.holder;
    const absl::Status status = keeper_.Take(watched);
    if (status.ok()) {
      spdlog::info("scaler shard {} of {} is taken{}", i, shards_.size(),
                   before.empty() || before == options_.identity
                       ? ""
                       : absl::StrCat(", the lease of ", before, " has run out"));
    } else if (!absl::IsAborted(status) && !absl::IsAlreadyExists(status)) {
      keeper_.Note(watched, status);
    }
    return later;
  }

  void LoadAndPublish(size_t i) {
    Shard& shard = shards_[i];
    if (!shard.watched.held || shard.hand_over_at.has_value() || published_[i].owned.load()) return;
    if (memory_ != nullptr && !shard.loaded) {
      const absl::Status status =
          memory_->Load(static_cast<int>(i), shard.watched.lease.transitions);
      if (!status.ok() && ++shard.load_failures < kLoadTries) return;
      if (!status.ok()) {
        spdlog::warn("scaler shard {}: begun without what was kept: {}", i,
                     std::string(status.message()));
      }
    }
    shard.loaded = true;
    if (clock_.MonotonicNow() < shard.watched.valid_until) Publish(i);
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

  // Of the election's thread alone.
  LeaseKeeper keeper_;
  Members members_;
  std::vector<Shard> shards_;
  bool changed_ = false;

  std::vector<Published> published_;

  mutable absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status ready_ ABSL_GUARDED_BY(mutex_) =
      absl::UnavailableError("the leases of the shards have not been read yet");
  std::function<void()> on_change_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
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

std::optional<ScalerState> ShardElection::Restore(const AutoscalerKey& key, int32_t current,
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
