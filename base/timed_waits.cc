#include "base/timed_waits.h"

#include <algorithm>

namespace flyball {

struct TimedWaits::Wait {
  absl::Mutex& mutex;
  const absl::Condition& condition;
  bool over = false;  // guarded by `mutex`; true: Ring does not refer to this any more

  bool Done() const { return over || condition.Eval(); }
};

TimedWaits::Waits::iterator TimedWaits::Add(MonotonicTime deadline, Wait& wait) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Waits::iterator place = waits_.emplace(deadline, &wait);
  if (place == waits_.begin()) sooner_.notify_one();
  ++begun_;
  counted_.notify_all();
  return place;
}

void TimedWaits::Remove(Waits::iterator place, Wait& wait) {
  if (wait.over) return;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto rings = [&] {
    return std::find(ringing_.begin(), ringing_.end(), &wait) != ringing_.end();
  };
  if (!rings()) {
    waits_.erase(place);
    return;
  }
  // Ring may be waiting for the lock in order to end this wait, so it is released. Or Ring has just
  // done so for an earlier wait at the same address.
  lock.unlock();
  wait.mutex.Unlock();
  lock.lock();
  rung_.wait(lock, [&] { return !rings(); });
  if (!wait.over) waits_.erase(place);
  lock.unlock();
  wait.mutex.Lock();
}

bool TimedWaits::Await(const Clock& clock, absl::Mutex& mutex, const absl::Condition& condition,
                       MonotonicTime deadline) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (condition.Eval()) return true;
  if (clock.MonotonicNow() >= deadline) return false;
  Wait wait{.mutex = mutex, .condition = condition};
  const Waits::iterator place = Add(deadline, wait);
  // From here on Ring sees the wait; if it rang before, the deadline has passed.
  if (clock.MonotonicNow() < deadline) mutex.Await(absl::Condition(&wait, &Wait::Done));
  Remove(place, wait);
  return condition.Eval();
}

MonotonicTime TimedWaits::Ring(MonotonicTime now) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!waits_.empty() && waits_.begin()->first <= now) {
    Wait& wait = *waits_.begin()->second;
    waits_.erase(waits_.begin());
    ringing_.push_back(&wait);
    lock.unlock();
    {
      const absl::MutexLock waiting(&wait.mutex);
      wait.over = true;
    }
    // The wait may not exist any more: only its address is used here.
    lock.lock();
    ringing_.erase(std::find(ringing_.begin(), ringing_.end(), &wait));
    rung_.notify_all();
  }
  return waits_.empty() ? absl::InfiniteDuration() : waits_.begin()->first;
}

void TimedWaits::SleepUntil(const Clock& clock, MonotonicTime next) {
  // Longer times are cut to this one, so that nothing overflows.
  constexpr absl::Duration kFarAway = absl::Hours(24 * 365 * 100);
  const absl::Duration time = std::min(next - clock.MonotonicNow(), kFarAway);
  std::unique_lock<std::mutex> lock(mutex_);
  sooner_.wait_for(lock, absl::ToChronoNanoseconds(time),
                   [&] { return !waits_.empty() && waits_.begin()->first < next; });
}

void TimedWaits::AwaitBegun(uint64_t count) {
  std::unique_lock<std::mutex> lock(mutex_);
  counted_.wait(lock, [&] { return begun_ >= count; });
}

}  // namespace flyball
