// Calls the followers of versions that have changed, with a short delay and all together: thousands
// of samples arrive within milliseconds, and a follower need not be called for each of them.
//
// Thread-safe. One thread, from Start to Stop; the followers are called on it, with no lock held.
// It is held by shared_ptr, since a version that calls Add may outlive the object that made it.
#pragma once

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/repeating_thread.h"
#include "base/sample_version.h"

namespace flyball::adapter {

class SampleNews {
 public:
  // Followers are called `debounce` after the first version has changed. The clock outlives it.
  SampleNews(Clock& clock, absl::Duration debounce)
      : clock_(clock), debounce_(debounce), thread_(clock, [this] { return Step(); }) {}

  // Throws std::system_error if no thread can be made.
  void Start() { thread_.Start(absl::InfiniteDuration()); }
  // Waits for the followers that are being called.
  void Stop() { thread_.Stop(); }

  // To be called when a version has changed.
  void Add(std::weak_ptr<const SampleVersion> moved);

  // Calls those that are due. Called by the thread, or by tests without one.
  void CallDue();

 private:
  RepeatingThread::Next Step();

  Clock& clock_;
  const absl::Duration debounce_;
  absl::Mutex mutex_;
  std::vector<std::weak_ptr<const SampleVersion>> moved_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime due_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteDuration();
  RepeatingThread thread_;
};

}  // namespace flyball::adapter
