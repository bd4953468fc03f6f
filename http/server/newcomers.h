// Connections whose peers have not said anything yet, and those of them that have: each origin
// (listener.h) in turn, and its newest first.
//
// Begin and Gather are for one thread, Take is for any. A handshake costs a server thousands of
// times what it costs somebody who only begins it: that is why a crowd from one origin must not
// keep those of another origin waiting. Of a crowd the newest are served, and when too many wait,
// the oldest are given up: an honest client of the same origin has better chances than behind all
// of them.
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
  // How many wait for a worker at most.
  static constexpr size_t kMostWaiting = 256;

  Newcomers() = default;
  ~Newcomers();

  Newcomers(const Newcomers&) = delete;
  Newcomers& operator=(const Newcomers&) = delete;

  // kUnavailable: no file descriptors.
  absl::Status Start();

  // Becomes readable when Gather has something to do.
  int said_fd() const { return said_; }
  // Is readable while Take has something to give.
  int waiting_fd() const { return waiting_; }

  // Waits for the connection's first byte, or its end. False: it can't.
  bool Begin(ServerConnection* connection);

  // Makes those that said something ready for Take. `give_up` gets those whose peer is gone, and
  // those that there is no room for.
  void Gather(const std::function<void(ServerConnection*)>& give_up);

  // The next one; nullptr: another thread was quicker.
  ServerConnection* Take();

 private:
  // Puts it with the others of its origin. Returns who is given up for it; nullptr: nobody.
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
