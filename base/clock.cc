#include "base/clock.h"

#include <chrono>

#include "absl/time/clock.h"
#include "base/steady_wait.h"

namespace flyball {
namespace {

class SystemClock : public Clock {
 public:
  absl::Time WallNow() const override { return absl::Now(); }
  MonotonicTime MonotonicNow() const override {
    return absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
  }
};

}  // namespace

bool Clock::Await(absl::Mutex& mutex, const absl::Condition& condition, absl::Duration timeout) {
  return AwaitFor(mutex, condition, timeout);
}

Clock& Clock::System() {
  static SystemClock clock;
  return clock;
}

absl::Time SimulatedClock::WallNow() const {
  absl::MutexLock lock(&mutex_);
  return wall_;
}

MonotonicTime SimulatedClock::MonotonicNow() const {
  absl::MutexLock lock(&mutex_);
  return monotonic_;
}

void SimulatedClock::Advance(absl::Duration by) {
  absl::MutexLock lock(&mutex_);
  wall_ += by;
  monotonic_ += by;
}

void SimulatedClock::JumpWall(absl::Time to) {
  absl::MutexLock lock(&mutex_);
  wall_ = to;
}

}  // namespace flyball
