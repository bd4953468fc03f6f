// Tells who made an answer of samples when another sample of the kind came: a number that moves on
// then, and functions that are called soon after.
//
// Thread-safe. A number is even once somebody is about to read the samples, and odd from the next
// sample on, so that samples which come while nobody reads cost a look. Whoever takes a number
// first and then reads the samples has seen all of them for as long as the number is the same.
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

// One who is to be called once, for as long as this lives. Its end waits for a call under way, so
// the function may not end it, nor wait for a lock under which it is ended.
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

// Holds one.
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
  // `on_move` is called when the number moves on, by the thread that brought the sample, and when
  // somebody follows a number that has. It should be quick, and have CallFollowers called soon.
  explicit SampleVersion(std::function<void()> on_move) : on_move_(std::move(on_move)) {}
  virtual ~SampleVersion() = default;
  SampleVersion(const SampleVersion&) = delete;

  uint64_t number() const { return number_.load(std::memory_order_acquire); }

  // ---- for who brings samples
  // True for who moves the number first; it has to call Tell. To be called under a lock that
  // readers of the sample take, too: then a number that is odd already is one whose taker has yet
  // to read it.
  bool Mark() {
    uint64_t seen = number_.load(std::memory_order_relaxed);
    return seen % 2 == 0 && number_.compare_exchange_strong(seen, seen + 1);
  }
  void Tell() const { on_move_(); }

  // ---- for who reads
  // The number of what is read from now on.
  uint64_t Take() {
    uint64_t seen = number_.load(std::memory_order_acquire);
    while (seen % 2 == 1 && !number_.compare_exchange_weak(seen, seen + 1)) {
    }
    return seen % 2 == 0 ? seen : seen + 1;
  }

  // ---- for who follows
  // `on_moved` is called once, soon after the number is not this one any more.
  VersionFollowing Follow(uint64_t number, std::function<void()> on_moved) const;
  // Calls those whose number is not the present one.
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
