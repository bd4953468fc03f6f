// Simulated time, in which code that blocks can run. For tests.
//
// Tasks begin at their time, one after the other. A task that has to wait calls Sleep: then others
// run until its time has come. At any moment exactly one task runs, and which one is determined
// only by the times, so that the same tasks always run in the same order. Times are since an
// arbitrary start.
//
// Threads: a task keeps its thread while it sleeps, so there are as many threads as there are tasks
// that have begun; they are kept for later schedulers. Only RunUntil may be called from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

#include "absl/time/time.h"

namespace flyball::scaler {

class SimulatedTime {
 public:
  SimulatedTime() = default;
  // To be destroyed when no task is asleep.
  ~SimulatedTime();
  SimulatedTime(const SimulatedTime&) = delete;
  SimulatedTime& operator=(const SimulatedTime&) = delete;

  absl::Duration now() const { return now_; }

  // Runs `task` at that time, after the tasks that were given earlier for the same time. May be
  // called from tasks and, between two calls of RunUntil, from outside.
  void At(absl::Duration when, std::function<void()> task);
  void Soon(std::function<void()> task) { At(now_, std::move(task)); }

  // Called by a task, which goes on `duration` later.
  void Sleep(absl::Duration duration);

  // Runs all tasks whose time is not after `end`, and those that they add.
  void RunUntil(absl::Duration end);

 private:
  struct Carrier;
  class Carriers;
  struct Event {
    absl::Duration when;
    uint64_t order = 0;
    std::function<void()> task;  // null: `sleeper` continues
    Carrier* sleeper = nullptr;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };

  void RunHere(Carrier& self);
  Carrier& SpareCarrier();

  absl::Duration now_ = absl::ZeroDuration();
  absl::Duration end_ = absl::ZeroDuration();
  uint64_t next_order_ = 0;
  int sleeping_ = 0;
  Carrier* running_ = nullptr;
  std::vector<Carrier*> spare_;  // our threads that wait for a task
  std::vector<Carrier*> all_;
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  Carrier* outside_ = nullptr;  // the caller of RunUntil
};

}  // namespace flyball::scaler
