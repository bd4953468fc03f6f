// A thread that calls a function again at the time that the function returned, or when woken.
//
// Thread-safe, except for Start. One call at a time.
#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball {

class RepeatingThread {
 public:
  struct Next {
    MonotonicTime at;
  };
  // `step` returns the time of its next call. The clock outlives the thread.
  RepeatingThread(Clock& clock, std::function<Next()> step);
  // `step` returns the wait until its next call, counted from its return.
  RepeatingThread(Clock& clock, std::function<absl::Duration()> step);
  ~RepeatingThread() { Stop(); }
  RepeatingThread(const RepeatingThread&) = delete;
  RepeatingThread& operator=(const RepeatingThread&) = delete;

  // The first call comes after `wait`; none after Stop. Throws std::system_error if no thread can
  // be made.
  void Start(absl::Duration wait = absl::ZeroDuration());
  // Makes the next call come at once. If a call is under way, another one follows.
  void Wake();
  // No further call begins; one that is under way continues.
  void BeginStop();
  // Also waits for the call under way. Not to be called from `step`.
  void Stop();
  bool stopping() const;

 private:
  void Run(MonotonicTime next);

  Clock& clock_;
  const std::function<Next()> step_;
  mutable absl::Mutex mutex_;
  bool woken_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball
