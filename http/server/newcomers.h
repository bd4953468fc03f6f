// Connections whose peers have not said anything yet, and those of them that have: each origin
// (listener.h) in turn, and its newest first.
//
// Begin, Gather: one thread's. Take: any thread's. A handshake costs a server thousands of times
// what it costs somebody who only begins it. So a crowd that comes from one place keeps nobody
// from another place waiting. Of a crowd the newest are served and, when too many wait, the oldest
// given up: whoever comes honestly from the same place has better chances than behind all of it.
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

  // Puts those that said something before a worker. `give_up` gets each that can't wait as well,
  // and whose peer is gone.
  void Gather(const std::function<void(ServerConnection*)>& give_up);

  // The next one; nullptr: another thread was quicker.
  ServerConnection* Take();

 private:
  // Puts it with its like. Who is given up for it; nullptr: nobody.
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
