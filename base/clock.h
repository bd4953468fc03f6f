// Time as a value that is passed in (wall time to show, monotonic time to subtract), and waits
// until a time.
//
// Thread-safe. Only shells hold a Clock; everything that decides takes an absl::Time.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace flyball {

// Never jumps, and continues while the machine is suspended. Only differences have a meaning.
using MonotonicTime = absl::Duration;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual absl::Time WallNow() const = 0;
  virtual MonotonicTime MonotonicNow() const = 0;

  // Waits until the condition holds, or until MonotonicNow() is `deadline`. Returns whether the
  // condition holds.
  virtual bool Await(absl::Mutex& mutex, const absl::Condition& condition, MonotonicTime deadline)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) = 0;

  // The machine's clocks. Lives as long as the process. One thread, begun by the first wait that
  // has a deadline, ends the waits whose deadline has passed.
  static Clock& System();
};

class TimedWaits;

// A clock that only a test moves.
class SimulatedClock : public Clock {
 public:
  explicit SimulatedClock(absl::Time start);
  ~SimulatedClock() override;
  absl::Time WallNow() const override;
  MonotonicTime MonotonicNow() const override;
  bool Await(absl::Mutex& mutex, const absl::Condition& condition, MonotonicTime deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Moves both times forward and ends the waits whose deadline has passed.
  void Advance(absl::Duration by);
  // Sets only the wall time, as an administrator or NTP does.
  void JumpWall(absl::Time to);

  // Blocks until that many waits have begun since the clock was made, so that a test knows that
  // these threads sleep until it moves the time or their conditions become true.
  void AwaitWaits(uint64_t count);

 private:
  const std::unique_ptr<TimedWaits> timed_waits_;
  mutable absl::Mutex mutex_;
  absl::Time wall_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime monotonic_ ABSL_GUARDED_BY(mutex_) = absl::ZeroDuration();
};

}  // namespace flyball
