// Time as a value that is passed in: wall time to show, monotonic time to subtract.
//
// Thread-safe. Only shells hold a Clock; everything that decides takes an absl::Time.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace flyball {

// Time since an arbitrary start that never jumps. Only differences mean anything.
using MonotonicTime = absl::Duration;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time WallNow() const = 0;
  virtual MonotonicTime MonotonicNow() const = 0;

  // Waits until the condition holds, for `timeout` by the monotonic time at most; whether it holds
  // in the end. Here time passes by itself; a clock of simulated time lets it pass meanwhile.
  virtual bool Await(absl::Mutex& mutex, const absl::Condition& condition, absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // The machine's clocks. Lives as long as the process.
  static Clock& System();
};

// A clock that only a test moves.
class SimulatedClock : public Clock {
 public:
  explicit SimulatedClock(absl::Time start) : wall_(start) {}
  absl::Time WallNow() const override;
  MonotonicTime MonotonicNow() const override;

  // Moves both times forward.
  void Advance(absl::Duration by);
  // Sets the wall time alone, as an administrator or NTP does.
  void JumpWall(absl::Time to);

 private:
  mutable absl::Mutex mutex_;
  absl::Time wall_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime monotonic_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
};

}  // namespace flyball
