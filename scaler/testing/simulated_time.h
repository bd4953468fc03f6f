// Simulated time, in which code that blocks can run. For tests.
//
// Tasks are begun at their time, one after the other. A task that has to wait calls Sleep: then
// others run until its time has come. At any moment exactly one task runs, and which one is decided
// by the times alone, so that the same tasks always run in the same order. Times are since an
// arbitrary start.
//
// Threads: none. All tasks run on the thread that calls RunUntil, each on a stack of its own while
// it sleeps. So a task must not sleep while it holds a mutex, or uses a thread_local, that others
// use. Only RunUntil may be called from outside.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "absl/time/time.h"

namespace flyball::scaler {

class SimulatedTime {
 public:
  SimulatedTime();
  // To be destroyed when no task sleeps any more.
  ~SimulatedTime();
  SimulatedTime(const SimulatedTime&) = delete;
  SimulatedTime& operator=(const SimulatedTime&) = delete;

  absl::Duration now() const { return now_; }

  // Has `task` run at that time, after the tasks that were given earlier for the same time. May be
  // called from tasks and, between two calls of RunUntil, from outside.
  void At(absl::Duration when, std::function<void()> task);
  void Soon(std::function<void()> task) { At(now_, std::move(task)); }

  // Called by a task, which goes on `duration` later.
  void Sleep(absl::Duration duration);

  // Runs all tasks whose time is not after `end`, with everything that they ask for.
  void RunUntil(absl::Duration end);

 private:
  class Stack;
  struct Event {
    absl::Duration when;
    uint64_t order = 0;
    std::function<void()> task;  // null: `sleeper` goes on
    Stack* sleeper = nullptr;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.when != b.when ? a.when > b.when : a.order > b.order;
    }
  };

  void RunHere(Stack& self);
  Stack& SpareStack();

  absl::Duration now_ = absl::ZeroDuration();
  absl::Duration end_ = absl::ZeroDuration();
  uint64_t next_order_ = 0;
  int sleeping_ = 0;
  Stack* running_ = nullptr;
  std::vector<std::unique_ptr<Stack>> all_;
  std::vector<Stack*> spare_;  // those that no task is on
  std::priority_queue<Event, std::vector<Event>, Later> events_;
  Stack* outside_ = nullptr;  // of who called RunUntil
};

}  // namespace flyball::scaler
