// A clock that stands still unless a test moves it, and knows which threads have looked at it: how
// a test waits until another thread has got somewhere.
#pragma once

#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::adapter {

class WatchedClock : public Clock {
 public:
  absl::Time WallNow() const override {
    absl::MutexLock lock(&mutex_);
    return absl::FromUnixSeconds(1700000000) + now_;
  }
  MonotonicTime MonotonicNow() const override {
    absl::MutexLock lock(&mutex_);
    ++looks_[std::this_thread::get_id()];
    return now_;
  }

  void Advance(absl::Duration by) {
    absl::MutexLock lock(&mutex_);
    now_ += by;
  }

  // Until `thread` has asked for the monotonic time `count` times.
  void WaitForLooks(std::thread::id thread, int count) {
    absl::MutexLock lock(&mutex_);
    const auto enough = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return looks_[thread] >= count;
    };
    mutex_.Await(absl::Condition(&enough));
  }

 private:
  mutable absl::Mutex mutex_;
  MonotonicTime now_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
  mutable absl::flat_hash_map<std::thread::id, int> looks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::adapter
