// A few threads that run tasks, and a loop over indexes that uses them.
//
// Thread-safe. The first thread is made with the pool, so that every task can run; further ones are
// made as they are needed, up to the limit, and kept. If they cannot be made there are fewer. The
// thread that became idle last is the first to work again, since its stack and heap are still in
// the caches. The queue has no limit of its own; its users limit what they submit.
#pragma once

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace flyball {

class WorkerPool {
 public:
  // Throws std::system_error if not even one thread can be made.
  explicit WorkerPool(int max_threads);
  ~WorkerPool() { Stop(); }
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Waits for the tasks under way and drops those that have not begun, and all that are submitted
  // later: a task may submit another one while its pool stops.
  void Stop();

  void Submit(std::function<void()> task);

  // Runs body(0) ... body(count - 1), at most `width` at once; returns when all are done. The
  // caller works too, so that a busy pool delays but never blocks it.
  void ParallelFor(size_t count, size_t width, const std::function<void(size_t)>& body);

 private:
  // A thread that is idle; under mutex_.
  struct Idle {
    absl::CondVar woken;
    std::function<void()> task;  // assigned to it; null: none yet
  };

  void Work();
  // Waits for the next task; null: the pool stops.
  std::function<void()> NextTask(Idle& self);

  const int max_threads_;
  absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ ABSL_GUARDED_BY(mutex_);
  std::vector<Idle*> idle_ ABSL_GUARDED_BY(mutex_);  // the last one is the first to work
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace flyball
