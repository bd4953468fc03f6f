// Threads that wait together on one queue of events (epoll, one shot) and serve what becomes ready.
//
// Thread-safe. From `min` to `max` threads: a further one starts when all are busy, and one above
// the minimum ends after ten seconds without work. A subject that waits in the queue holds none.
// This is no WorkerPool (base/): its threads wait for sockets, and their number goes up and down.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"

namespace flyball::http {

class EventWorkers {
 public:
  // While one lives, its thread waits for the API server, say, or Prometheus. On a thread that is
  // no worker's it is nothing.
  class Waiting {
   public:
    Waiting();
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    void* const workers_;
  };

  // Called on a worker, with a subject that has become ready.
  using Serve = std::function<void(void* subject)>;

  // `count` is that of the threads; it outlives them.
  EventWorkers(int ready, int max, std::atomic<int64_t>* count, Serve serve);
  ~EventWorkers();  // after Stop

  EventWorkers(const EventWorkers&) = delete;
  EventWorkers& operator=(const EventWorkers&) = delete;

  // kUnavailable: no file descriptor. kResourceExhausted: not all of them can be made; Stop ends
  // the rest.
  absl::Status Start();

  // Serves `subject` once when `fd` has one of the events (EPOLLIN, EPOLLOUT), or its peer is gone;
  // maybe before this returns. `known`: not for the first time. False: it can't be.
  bool Await(int fd, void* subject, uint32_t events, bool known);

  // Serves `subject` whenever `fd` is readable, on any number of workers at once.
  bool Watch(int fd, void* subject);

  // Gives back threads that have ended; called now and then.
  void JoinFinished();

  // Ends them; what they serve is served to its end.
  void Stop();

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace flyball::http
