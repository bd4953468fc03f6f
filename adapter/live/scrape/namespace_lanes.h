// Runs tasks in a pool so that no namespace holds all of its threads: the targets of one namespace
// may all be slow, and those of others are still asked at once.
//
// Thread-safe. A namespace gets no more threads than there are free ones, so the first one leaves
// half of them; but at least one. Namespaces that wait take turns, and the tasks of each begin in
// the order in which they came. Tasks without a namespace have no limit and are not counted.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/worker_pool.h"

namespace flyball::scrape {

class NamespaceLanes {
 public:
  using Task = std::function<void()>;

  // The pool has so many threads. It is stopped before this ends.
  NamespaceLanes(WorkerPool& pool, int threads) : pool_(pool), free_(threads) {}

  void Submit(const std::string& ns, Task task);

 private:
  struct Lane {
    int running = 0;
    std::deque<Task> waiting;
  };

  bool MayBegin(const Lane& lane) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return lane.running == 0 || lane.running < free_;
  }
  void Begin(const std::string& ns, Lane& lane, Task task) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(const std::string& ns);

  WorkerPool& pool_;
  absl::Mutex mutex_;
  int free_ ABSL_GUARDED_BY(mutex_);  // negative: many namespaces have their one thread
  std::map<std::string, Lane> lanes_ ABSL_GUARDED_BY(mutex_);  // with a task that runs
  std::deque<std::string> turns_ ABSL_GUARDED_BY(mutex_);      // lanes in which tasks wait
};

}  // namespace flyball::scrape
