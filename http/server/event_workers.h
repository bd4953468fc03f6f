// Threads that wait on one queue of events (epoll, one shot) and serve what becomes ready.
//
// Thread-safe. From `min` to `max` threads: another one starts when all are busy, and one above the
// minimum ends after ten seconds without work. A subject that waits in the queue occupies no
// thread. This is no WorkerPool (base/): its threads wait for sockets, and their number rises and
// falls.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace flyball::http {

class EventWorkers {
 public:
  // While this object exists, its thread counts as waiting for another server, such as the API
  // server or Prometheus, and another thread may run in its place. So does a thread that is busy
  // for long with one of a few requests that may. On a thread that is no worker, or waits
  // already, it has no effect.
  class Waiting {
   public:
    Waiting();
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    EventWorkers* const workers_;
  };

  // Called on a worker, with a subject that has become ready.
  using Serve = std::function<void(void* subject)>;

  // `count` gets the number of threads, and outlives them.
  EventWorkers(int ready, int max, std::atomic<int64_t>* count, Serve serve)
      : ready_(ready), max_(max), count_(*count), serve_(std::move(serve)) {}
  ~EventWorkers();  // after Stop

  EventWorkers(const EventWorkers&) = delete;
  EventWorkers& operator=(const EventWorkers&) = delete;

  // kUnavailable: no file descriptor. kResourceExhausted: not all threads can start; Stop ends
  // them.
  absl::Status Start();

  // Serves `subject` once when `fd` has one of the events (EPOLLIN, EPOLLOUT), or its peer is gone;
  // perhaps before this returns. `known`: `fd` was passed before. False: the kernel refused to
  // watch it.
  bool Await(int fd, void* subject, uint32_t events, bool known);

  // Serves `subject` whenever `fd` is readable, on any number of workers at once.
  bool Watch(int fd, void* subject);

  // Joins the threads that have ended; to be called now and then.
  void JoinFinished();

  // Ends the threads, each after what it is serving.
  void Stop();

 private:
  absl::Status Add() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Work(uint64_t id);
  // Whether the calling worker is superfluous; then it is no longer counted.
  bool LeaveIfSpare();
  void BeginWaiting();

  const int ready_, max_;
  std::atomic<int64_t>& count_;
  std::atomic<int64_t> waiting_{0};
  const Serve serve_;
  int epoll_ = -1;
  int stop_ = -1;  // readable from Stop on

  absl::Mutex mutex_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool complained_ ABSL_GUARDED_BY(mutex_) = false;
  absl::flat_hash_map<uint64_t, std::thread> workers_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> finished_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::http
