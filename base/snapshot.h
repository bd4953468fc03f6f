// Snapshot<T>: an immutable value that many threads read and one writer replaces as a whole.
//
// Thread-safe. A reader may keep what it got; it never sees a half-replaced value and never waits
// while the next one is made. Empty (nullptr) until the first Set unless constructed with a value.
#pragma once

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace flyball {

template <typename T>
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  std::shared_ptr<const T> Get() const {
    absl::ReaderMutexLock lock(&mutex_);
    return value_;
  }

  void Set(std::shared_ptr<const T> value) {
    {
      absl::MutexLock lock(&mutex_);
      value_.swap(value);
    }
    // The old value is destroyed here, outside the lock.
  }

 private:
  // Held for one pointer copy. libstdc++ 12's std::atomic<std::shared_ptr> is a spin lock of the
  // same length that ThreadSanitizer cannot follow.
  mutable absl::Mutex mutex_;
  std::shared_ptr<const T> value_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball
