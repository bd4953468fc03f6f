// New connections: those whose peers have not sent anything yet, and those that wait for a worker.
// Origins (listener.h) take turns, and the newest connection of an origin comes first.
//
// Begin and Gather are for one thread, Take is for any. A handshake costs a server thousands of
// times what it costs a peer that only begins it, so a flood from one origin must not delay other
// origins. Within a flood the newest connections are served, and if too many wait the oldest are
// dropped: so an honest client of the same origin has a better chance than at the end of the queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "http/server/connection.h"

namespace flyball::http {

class Newcomers {
 public:
  // The most connections that wait for a worker.
  static constexpr size_t kMostWaiting = 256;

  Newcomers() = default;
  ~Newcomers();

  Newcomers(const Newcomers&) = delete;
  Newcomers& operator=(const Newcomers&) = delete;

  // kUnavailable: no file descriptors.
  absl::Status Start();

  // Becomes readable when Gather has something to do.
  int said_fd() const { return said_; }
  // Readable while Take has something to return.
  int waiting_fd() const { return waiting_; }

  // Waits for the connection's first byte, or its end. False: it can't.
  bool Begin(ServerConnection* connection);

  // Makes connections whose peers have sent something ready for Take. `give_up` gets those whose
  // peer is gone, and those for which there is no room.
  void Gather(const std::function<void(ServerConnection*)>& give_up);

  // The next one; nullptr: another thread was quicker.
  ServerConnection* Take();

 private:
  // Adds it to those of its origin. Returns the connection that is dropped for it; nullptr: none.
  ServerConnection* Put(ServerConnection* connection);

  int said_ = -1;     // epoll
  int waiting_ = -1;  // eventfd, counts
  absl::Mutex mutex_;
  size_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  // By origin, newest last; none is empty.
  absl::flat_hash_map<uint64_t, std::deque<ServerConnection*>> ready_ ABSL_GUARDED_BY(mutex_);
  std::deque<uint64_t> turns_ ABSL_GUARDED_BY(mutex_);  // the origins in `ready_`
};

}  // namespace flyball::http
