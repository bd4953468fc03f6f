#include "base/clock.h"

#include <time.h>

#include <thread>

#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "base/thread_limit.h"
#include "base/timed_waits.h"

namespace flyball {
namespace {

class SystemClock : public Clock {
 public:
  absl::Time WallNow() const override { return absl::Now(); }
  // CLOCK_MONOTONIC, the clock of std::chrono::steady_clock, stands still while the machine is
  // suspended. A Lease that another replica has taken meanwhile would still count as held, and old
  // readings would count as fresh.
  MonotonicTime MonotonicNow() const override {
    timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return absl::DurationFromTimespec(now);
  }

  bool Await(absl::Mutex& mutex, const absl::Condition& condition, MonotonicTime deadline) override
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    if (deadline == absl::InfiniteDuration()) {
      mutex.Await(condition);
      return true;
    }
    // Without the thread it waits by the wall clock, which may be set meanwhile.
    if (!Rings()) return mutex.AwaitWithTimeout(condition, deadline - MonotonicNow());
    return waits_.Await(*this, mutex, condition, deadline);
  }

 private:
  // False: its thread can't be made, or not yet.
  bool Rings() {
    absl::MutexLock lock(&mutex_);
    if (rings_) return true;
    absl::StatusOr<std::thread> thread = MakeThread([this] {
      while (true) waits_.SleepUntil(*this, waits_.Ring(MonotonicNow()));
    });
    if (!thread.ok()) return false;
    thread->detach();
    return rings_ = true;
  }

  TimedWaits waits_;
  absl::Mutex mutex_;
  bool rings_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

Clock& Clock::System() {
  static SystemClock* const clock = new SystemClock();  // its thread lives as long as the process
  return *clock;
}

SimulatedClock::SimulatedClock(absl::Time start)
    : timed_waits_(std::make_unique<TimedWaits>()), wall_(start) {}

SimulatedClock::~SimulatedClock() = default;

absl::Time SimulatedClock::WallNow() const {
  absl::MutexLock lock(&mutex_);
  return wall_;
}

MonotonicTime SimulatedClock::MonotonicNow() const {
  absl::MutexLock lock(&mutex_);
  return monotonic_;
}

bool SimulatedClock::Await(absl::Mutex& mutex, const absl::Condition& condition,
                           MonotonicTime deadline) {
  return timed_waits_->Await(*this, mutex, condition, deadline);
}

void SimulatedClock::Advance(absl::Duration by) {
  MonotonicTime now;
  {
    absl::MutexLock lock(&mutex_);
    wall_ += by;
    now = monotonic_ += by;
  }
  timed_waits_->Ring(now);
}

void SimulatedClock::JumpWall(absl::Time to) {
  absl::MutexLock lock(&mutex_);
  wall_ = to;
}

void SimulatedClock::AwaitWaits(uint64_t count) { timed_waits_->AwaitBegun(count); }

}  // namespace flyball
