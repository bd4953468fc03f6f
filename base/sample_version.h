// Tells readers of samples that another sample of the same kind has arrived: by a number that
// changes then, and by functions that are called soon after.
//
// Thread-safe. The number is even when a reader has taken it and is about to read the samples, and
// odd from the next sample on, so that samples that arrive while nobody reads cost only a check. A
// reader that first takes the number and then reads the samples has seen all of them as long as the
// number stays the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace flyball {

// A follower, which is called at most once, while this object lives. Its destructor waits for a
// call under way, so the function must not destroy it, nor wait for a lock under which it is
// destroyed.
class FollowedVersion {
 public:
  explicit FollowedVersion(std::function<void()> on_moved) : on_moved_(std::move(on_moved)) {}
  FollowedVersion(const FollowedVersion&) = delete;

 private:
  friend class SampleVersion;
  friend class VersionFollowing;
  void Call();
  void End();

  absl::Mutex mutex_;
  std::function<void()> on_moved_ ABSL_GUARDED_BY(mutex_);
};

// Owns a FollowedVersion.
class VersionFollowing {
 public:
  VersionFollowing() = default;
  explicit VersionFollowing(std::shared_ptr<FollowedVersion> followed)
      : followed_(std::move(followed)) {}
  VersionFollowing(VersionFollowing&&) = default;
  VersionFollowing& operator=(VersionFollowing&&) = delete;
  ~VersionFollowing() {
    if (followed_ != nullptr) followed_->End();
  }

 private:
  std::shared_ptr<FollowedVersion> followed_;
};

class SampleVersion {
 public:
  // `on_move` is called when the number changes, by the thread that brought a sample, and when
  // somebody follows a number that has already changed. It should be quick, and cause CallFollowers
  // to be called soon.
  explicit SampleVersion(std::function<void()> on_move) : on_move_(std::move(on_move)) {}
  virtual ~SampleVersion() = default;
  SampleVersion(const SampleVersion&) = delete;

  uint64_t number() const { return number_.load(std::memory_order_acquire); }

  // ---- for the thread that brings samples
  // Returns true to the caller that changes the number, which then has to call Tell. To be called
  // under a lock that readers of the sample also take, so that no reader that took an earlier
  // number can miss the sample.
  bool Mark() {
    uint64_t seen = number_.load(std::memory_order_relaxed);
    return seen % 2 == 0 && number_.compare_exchange_strong(seen, seen + 1);
  }
  void Tell() const { on_move_(); }

  // ---- for readers
  // The number for what is read from now on.
  uint64_t Take() {
    uint64_t seen = number_.load(std::memory_order_acquire);
    while (seen % 2 == 1 && !number_.compare_exchange_weak(seen, seen + 1)) {
    }
    return seen % 2 == 0 ? seen : seen + 1;
  }

  // ---- for followers
  // `on_moved` is called once, soon after the number is no longer this one.
  VersionFollowing Follow(uint64_t number, std::function<void()> on_moved) const;
  // Calls the followers whose number is not the present one.
  void CallFollowers() const;

 private:
  struct Follower {
    uint64_t number = 0;
    std::weak_ptr<FollowedVersion> followed;
  };

  const std::function<void()> on_move_;
  std::atomic<uint64_t> number_ = 0;
  mutable absl::Mutex mutex_;
  mutable std::vector<Follower> followers_ ABSL_GUARDED_BY(mutex_);
  mutable size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 8;
};

}  // namespace flyball
