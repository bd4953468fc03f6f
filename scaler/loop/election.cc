#include "scaler/loop/election.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/steady_wait.h"
#include "scaler/loop/shards.h"

namespace flyball::scaler {
namespace {

// A record that claims more is taken for this: nobody may keep a shard for ever by a typo.
constexpr absl::Duration kLongestLease = absl::Minutes(10);
// How often what is kept of a shard is asked for before it is begun without.
constexpr int kLoadTries = 4;
// Replicas beyond this many are not told apart when shards are spread.
constexpr int kMaxMembers = 64;
// With a jitter of client-go.
constexpr double kRetryJitter = 1.2;

std::string Text(const absl::Status& status) { return std::string(status.message()); }

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

// One Lease as last seen. Only the election's thread touches it.
struct ShardElection::Watched {
  kube::Lease lease;                             // with name; no version: it does not exist
  bool seen = false;                             // it was read, or found missing, at least once
  MonotonicTime changed = absl::ZeroDuration();  // when we first saw this record
  bool held = false;                             // by us, as far as we know
  MonotonicTime valid_until = absl::ZeroDuration();

  bool free() const { return lease.holder.empty(); }

  // Our own view of when its holder must have stopped.
  MonotonicTime RunsOut(absl::Duration own_duration) const {
    return changed +
           std::clamp(lease.duration, own_duration, std::max(own_duration, kLongestLease));
  }
};

class ShardElection::Impl {
 public:
  Impl(ElectionOptions options, LeaseStore& leases, ShardMemory* memory, Clock& clock)
      : options_(std::move(options)),
        leases_(leases),
        memory_(memory),
        clock_(clock),
        published_(static_cast<size_t>(options_.shards)),
        shards_(static_cast<size_t>(options_.shards)) {
    for (size_t i = 0; i < shards_.size(); ++i) {
      shards_[i].watched.lease = NewLease(absl::StrCat(options_.prefix, "-", i));
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
    if (member_.has_value()) Release(members_[*member_]);
    for (size_t i = 0; i < shards_.size(); ++i) {
      Shard& shard = shards_[i];
      if (!shard.watched.held) continue;
      const bool owned = published_[i].owned.exchange(false);
      published_[i].valid_until.store(0);
      if (memory_ != nullptr && (owned || shard.hand_over_at.has_value())) {
        memory_->Save(static_cast<int>(i));
        memory_->Drop(static_cast<int>(i));
      }
      Release(shard.watched);
    }
  }

  absl::Duration Round() {
    round_error_ = absl::OkStatus();
    changed_ = false;
    // What we hold comes first: only that runs out on us.
    for (size_t i = 0; i < shards_.size(); ++i) {
      if (shards_[i].watched.held) RenewShard(i);
    }
    std::vector<size_t> wanted(shards_.size(), 0);
    std::vector<std::string> living = {options_.identity};
    if (shards_.size() > 1) {
      RoundOfMembers();
      living = Living();
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
      ready_ = round_error_;
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
    Watched watched;
    bool loaded = false;  // what is kept of it was read, or given up on
    int load_failures = 0;
    std::optional<MonotonicTime> unwanted_since;  // it should be with another replica
    std::optional<MonotonicTime> hand_over_at;    // no longer decided; to be released then
  };

  kube::Lease NewLease(std::string name) const {
    kube::Lease lease;
    lease.ns = options_.ns;
    lease.name = std::move(name);
    return lease;
  }

  void Note(const kube::Lease& lease, const absl::Status& status) {
    round_error_ = absl::Status(status.code(), absl::StrCat("lease ", lease.ns, "/", lease.name,
                                                            ": ", std::string(status.message())));
  }

  // Takes over what was read. A new record is counted from after the answer: its writer has been
  // sure of it from an earlier moment on.
  void See(Watched& watched, const kube::Lease& lease) {
    if (!watched.seen || lease != watched.lease) watched.changed = clock_.MonotonicNow();
    watched.seen = true;
    watched.lease = lease;
  }

  bool Read(Watched& watched) {
    const absl::StatusOr<kube::Lease> lease = leases_.Get(watched.lease.name);
    if (lease.ok()) {
      See(watched, *lease);
      return true;
    }
    if (absl::IsNotFound(lease.status())) {
      See(watched, NewLease(watched.lease.name));
      return true;
    }
    Note(watched.lease, lease.status());
    return false;
  }

  // Writes our name, over the record that was last seen. True: it is ours, counted from before the
  // request.
  absl::Status Write(Watched& watched) {
    kube::Lease lease = watched.lease;
    if (lease.holder != options_.identity) {
      lease.holder = options_.identity;
      lease.acquire_time = clock_.WallNow();
      if (!lease.resource_version.empty()) ++lease.transitions;
    }
    lease.renew_time = clock_.WallNow();
    lease.duration = options_.lease_duration;
    const MonotonicTime start = clock_.MonotonicNow();
    const absl::StatusOr<kube::Lease> stored = leases_.Put(lease);
    if (!stored.ok()) return stored.status();
    See(watched, *stored);
    watched.held = true;
    watched.valid_until = start + options_.renew_deadline;
    return absl::OkStatus();
  }

  // Renews a Lease that is ours. After a conflict it is read again: an earlier answer may have got
  // lost, or somebody else has it.
  void Renew(Watched& watched) {
    absl::Status status = Write(watched);
    if (absl::IsAborted(status) || absl::IsNotFound(status) || absl::IsAlreadyExists(status)) {
      if (Read(watched)) {
        // Deleted by hand, it belongs to whoever makes it anew; that may be us.
        const bool ours = watched.lease.holder == options_.identity;
        if (!ours) {
          watched.held = false;
          return;
        }
        status = Write(watched);
      }
    }
    if (!status.ok()) Note(watched.lease, status);
    if (clock_.MonotonicNow() >= watched.valid_until) watched.held = false;
  }

  void Release(Watched& watched) {
    kube::Lease lease = watched.lease;
    lease.holder.clear();
    lease.renew_time = clock_.WallNow();
    watched.held = false;
    const absl::StatusOr<kube::Lease> stored = leases_.Put(lease);
    if (stored.ok()) {
      See(watched, *stored);
    } else {
      spdlog::warn("lease {}/{}: cannot be released, it will run out: {}", lease.ns, lease.name,
                   Text(stored.status()));
    }
  }

  void RenewShard(size_t i) {
    Shard& shard = shards_[i];
    // One that is being handed over is not renewed: should we die now, nobody waits the longer.
    if (shard.hand_over_at.has_value()) return;
    Renew(shard.watched);
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
      Release(shard.watched);
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
    // Writes that were allowed until now end within the margin.
    shard.hand_over_at = now + options_.WriteMargin();
  }

  // A shard that is not ours: taken when it may be. When to look at it again.
  MonotonicTime ConsiderTaking(size_t i, bool ours) {
    Watched& watched = shards_[i].watched;
    const MonotonicTime later = clock_.MonotonicNow() + options_.retry_period;
    if (!Read(watched)) return later;
    const MonotonicTime now = clock_.MonotonicNow();
    MonotonicTime at = watched.RunsOut(options_.lease_duration);
    if (watched.lease.holder == options_.identity) at = now;  // an answer got lost
    if (watched.free()) at = ours ? now : watched.changed + 2 * options_.retry_period;
    if (now < at) return std::min(at, later);
    const std::string before = watched.lease.holder;
    const absl::Status status = Write(watched);
    if (status.ok()) {
      spdlog::info("scaler shard {} of {} is taken{}", i, shards_.size(),
                   before.empty() || before == options_.identity
                       ? ""
                       : absl::StrCat(", the lease of ", before, " has run out"));
    } else if (!absl::IsAborted(status) && !absl::IsAlreadyExists(status)) {
      Note(watched.lease, status);
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
        spdlog::warn("scaler shard {}: begun without what was kept: {}", i, Text(status));
      }
    }
    shard.loaded = true;
    if (clock_.MonotonicNow() < shard.watched.valid_until) Publish(i);
  }

  // ---- members ----

  // Keeps our member Lease and looks at the others'.
  void RoundOfMembers() {
    if (member_.has_value()) {
      Renew(members_[*member_]);
      if (!members_[*member_].held) member_.reset();
    }
    for (size_t k = 0; k < kMaxMembers; ++k) {
      if (k == members_.size()) {
        members_.emplace_back();
        members_[k].lease = NewLease(absl::StrCat(options_.prefix, "-member-", k));
      }
      Watched& watched = members_[k];
      if (watched.held) continue;
      if (!Read(watched)) return;
      const bool missing = watched.lease.resource_version.empty();
      if (!member_.has_value() &&
          (watched.free() || watched.lease.holder == options_.identity || !Lives(watched))) {
        if (Write(watched).ok()) member_ = k;
      }
      // Slots are taken from the first on: behind one that was never made there are none.
      if (missing && !watched.held) {
        members_.resize(k);
        return;
      }
      if (missing && member_ == k) return;
    }
  }

  bool Lives(const Watched& watched) const {
    return !watched.free() && clock_.MonotonicNow() < watched.RunsOut(options_.lease_duration);
  }

  // Identities of the replicas that live, ours included.
  std::vector<std::string> Living() const {
    std::vector<std::string> living = {options_.identity};
    for (const Watched& watched : members_) {
      if (Lives(watched) &&
          std::find(living.begin(), living.end(), watched.lease.holder) == living.end()) {
        living.push_back(watched.lease.holder);
      }
    }
    return living;
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
  LeaseStore& leases_;
  ShardMemory* const memory_;
  Clock& clock_;

  std::vector<Published> published_;

  // Of the election's thread alone.
  std::vector<Shard> shards_;
  std::vector<Watched> members_;
  std::optional<size_t> member_;  // ours in members_
  bool changed_ = false;
  absl::Status round_error_;

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
