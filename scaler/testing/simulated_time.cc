#include "scaler/testing/simulated_time.h"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/synchronization/mutex.h"

namespace flyball::scaler {

// Waits for its turn without spinning: std::binary_semaphore would spin at first, which costs other
// processes their time, and then this one.
class Turn {
 public:
  void release() {
    const std::lock_guard<std::mutex> lock(mutex_);
    come_ = true;
    changed_.notify_one();
  }
  void acquire() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return come_; });
    come_ = false;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool come_ = false;  // under the lock
};

// A thread that runs tasks when it is its turn.
struct SimulatedTime::Carrier {
  Turn turn;
  SimulatedTime* time = nullptr;  // that it works for
};

// The threads of all schedulers of the process. They are never ended: making thousands of them anew
// for each short test would take most of its time.
class SimulatedTime::Carriers {
 public:
  static Carrier& Take(SimulatedTime& time) {
    Carrier* carrier = nullptr;
    {
      absl::MutexLock lock(&mutex());
      if (!idle().empty()) {
        carrier = idle().back();
        idle().pop_back();
      }
    }
    if (carrier == nullptr) {
      carrier = new Carrier;
      std::thread([carrier] {
        for (;;) {
          carrier->turn.acquire();
          carrier->time->RunHere(*carrier);
        }
      }).detach();
    }
    carrier->time = &time;
    return *carrier;
  }

  static void GiveBack(const std::vector<Carrier*>& carriers) {
    absl::MutexLock lock(&mutex());
    idle().insert(idle().end(), carriers.begin(), carriers.end());
  }

 private:
  static absl::Mutex& mutex() {
    static auto* const mutex = new absl::Mutex;
    return *mutex;
  }
  static std::vector<Carrier*>& idle() {
    static auto* const idle = new std::vector<Carrier*>;
    return *idle;
  }
};

SimulatedTime::~SimulatedTime() {
  if (sleeping_ != 0) std::abort();  // their stacks refer to what ends now
  Carriers::GiveBack(all_);
}

void SimulatedTime::At(absl::Duration when, std::function<void()> task) {
  events_.push({std::max(when, now_), next_order_++, std::move(task), nullptr});
}

SimulatedTime::Carrier& SimulatedTime::SpareCarrier() {
  if (!spare_.empty()) {
    Carrier& carrier = *spare_.back();
    spare_.pop_back();
    return carrier;
  }
  Carrier& carrier = Carriers::Take(*this);
  all_.push_back(&carrier);
  return carrier;
}

void SimulatedTime::Sleep(absl::Duration duration) {
  if (running_ == nullptr) std::abort();  // not from a task
  const absl::Duration when = now_ + std::max(duration, absl::ZeroDuration());
  // If nothing comes earlier, no other thread needs its turn.
  if (when <= end_ && (events_.empty() || events_.top().when > when)) {
    now_ = when;
    return;
  }
  Carrier& self = *running_;
  events_.push({when, next_order_++, nullptr, &self});
  ++sleeping_;
  Carrier& next = SpareCarrier();
  running_ = &next;
  next.turn.release();
  self.turn.acquire();
  --sleeping_;
}

// Until there is nothing more to do, or a sleeper's turn has come.
void SimulatedTime::RunHere(Carrier& self) {
  for (;;) {
    if (events_.empty() || events_.top().when > end_) {
      spare_.push_back(&self);
      running_ = nullptr;
      outside_->turn.release();
      return;
    }
    Event event = std::move(const_cast<Event&>(events_.top()));
    events_.pop();
    now_ = event.when;
    if (event.sleeper != nullptr) {
      spare_.push_back(&self);
      running_ = event.sleeper;
      event.sleeper->turn.release();
      return;
    }
    event.task();
    // It may have slept, and others may have run meanwhile: it is this carrier's turn again.
  }
}

void SimulatedTime::RunUntil(absl::Duration end) {
  Carrier outside;
  outside_ = &outside;
  end_ = end;
  Carrier& first = SpareCarrier();
  running_ = &first;
  first.turn.release();
  outside.turn.acquire();
  now_ = std::max(now_, end);
}

}  // namespace flyball::scaler
