// Waits for conditions with a deadline, for the implementations of Clock.
//
// Thread-safe. absl's timed waits use the wall clock: when that is set back by an hour, a wait of a
// second takes an hour longer. Here a wait ends when the clock calls Ring after its deadline.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball {

class TimedWaits {
 public:
  // Like Clock::Await, by the time of `clock`, which calls Ring.
  bool Await(const Clock& clock, absl::Mutex& mutex, const absl::Condition& condition,
             MonotonicTime deadline) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  // Ends the waits whose deadline is not after `now`. Returns the next deadline; infinite: there is
  // none.
  MonotonicTime Ring(MonotonicTime now);

  // Blocks until the clock, which is the machine's, reaches `next`, or there is an earlier
  // deadline. May be late by the time for which the machine was suspended.
  void SleepUntil(const Clock& clock, MonotonicTime next);

  // Blocks until that many waits have begun.
  void AwaitBegun(uint64_t count);

 private:
  struct Wait;
  using Waits = std::multimap<MonotonicTime, Wait*>;

  Waits::iterator Add(MonotonicTime deadline, Wait& wait);
  // Returns when nothing refers to the wait any more. Needs the wait's mutex, which it releases
  // while Ring needs it.
  void Remove(Waits::iterator place, Wait& wait) ABSL_NO_THREAD_SAFETY_ANALYSIS;

  std::mutex mutex_;
  std::condition_variable sooner_;   // the first deadline has become earlier
  std::condition_variable counted_;  // another wait has begun
  std::condition_variable rung_;
  Waits waits_;
  std::vector<const Wait*> ringing_;  // waits whose mutex a Ring is about to lock, or holds
  uint64_t begun_ = 0;
};

}  // namespace flyball
