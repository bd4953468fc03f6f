#include "base/steady_wait.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/status/statusor.h"
#include "base/thread_limit.h"

namespace flyball {
namespace {

using Steady = std::chrono::steady_clock;

// Longer waits than this are no different from it, and cannot overflow.
constexpr absl::Duration kLongest = absl::Hours(24 * 365);

struct Wait {
  absl::Mutex& mutex;
  const absl::Condition& condition;
  bool over = false;     // under `mutex`
  bool ringing = false;  // under the bell's lock: its thread is about to lock `mutex`

  bool Done() const { return over || condition.Eval(); }
};

// Rings for waits whose time is over.
class Bell {
 public:
  using Place = std::multimap<Steady::time_point, Wait*>::iterator;

  // nullptr: its thread can't be made, or not yet.
  static Bell* Get() {
    static Bell* const bell = new Bell();  // its thread lives as long as the process
    return bell->Started() ? bell : nullptr;
  }

  Place Add(absl::Duration timeout, Wait& wait) {
    const Steady::time_point when =
        Steady::now() + absl::ToChronoNanoseconds(std::min(timeout, kLongest));
    const std::lock_guard<std::mutex> lock(mutex_);
    const Place place = waits_.emplace(when, &wait);
    if (place == waits_.begin()) changed_.notify_one();
    return place;
  }

  // False: it is ringing right now.
  bool Remove(Place place, const Wait& wait) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (wait.ringing) return false;
    if (!wait.over) waits_.erase(place);
    return true;
  }
  void AwaitRung(const Wait& wait) {
    std::unique_lock<std::mutex> lock(mutex_);
    rung_.wait(lock, [&] { return !wait.ringing; });
  }

 private:
  bool Started() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (started_) return true;
    absl::StatusOr<std::thread> thread =
        UnlessNoThread([this] { return std::thread([this] { Ring(); }); });
    if (!thread.ok()) return false;
    thread->detach();
    return started_ = true;
  }

  void Ring() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      if (waits_.empty()) {
        changed_.wait(lock);
        continue;
      }
      const Place first = waits_.begin();
      if (Steady::now() < first->first) {
        changed_.wait_until(lock, Steady::time_point(first->first));
        continue;
      }
      Wait& wait = *first->second;
      waits_.erase(first);
      wait.ringing = true;
      lock.unlock();
      {
        const absl::MutexLock waiting(&wait.mutex);
        wait.over = true;
      }
      lock.lock();
      wait.ringing = false;
      rung_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;  // there is an earlier wait
  std::condition_variable rung_;
  std::multimap<Steady::time_point, Wait*> waits_;
  bool started_ = false;
};

}  // namespace

bool AwaitFor(absl::Mutex& mutex, const absl::Condition& condition,
              absl::Duration timeout) ABSL_NO_THREAD_SAFETY_ANALYSIS {
  if (condition.Eval()) return true;
  if (timeout <= absl::ZeroDuration()) return false;
  if (timeout == absl::InfiniteDuration()) {
    mutex.Await(condition);
    return true;
  }
  Wait wait{.mutex = mutex, .condition = condition};
  Bell* const bell = Bell::Get();
  // By the wall clock, which may be set meanwhile, rather than not at all.
  if (bell == nullptr) return mutex.AwaitWithTimeout(condition, timeout);
  const Bell::Place place = bell->Add(timeout, wait);
  mutex.Await(absl::Condition(&wait, &Wait::Done));
  if (!bell->Remove(place, wait)) {
    // The bell wants the lock to say that the time is over: it has to be let.
    mutex.Unlock();
    bell->AwaitRung(wait);
    mutex.Lock();
  }
  return condition.Eval();
}

}  // namespace flyball
