// Waiting on sockets, until a deadline or until a stop signal.
#pragma once

#include <poll.h>

#include <atomic>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/clock.h"

namespace flyball::http {

// A stop signal: once set, it ends all waits that watch it, permanently. Thread-safe.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void Set();
  bool IsSet() const { return set_.load(std::memory_order_acquire); }
  int fd() const { return fd_; }  // readable once set

 private:
  const int fd_;
  std::atomic<bool> set_ = false;
};

// The limit for all steps of one call. `stop` and the clock of the deadline outlive them.
struct Until {
  MonotonicTime deadline;
  const StopSignal* stop;
  Clock& clock;

  absl::Duration Left() const { return deadline - clock.MonotonicNow(); }
  bool Over() const { return Left() <= absl::ZeroDuration(); }
  // kCancelled: the stop signal is set; kDeadlineExceeded: the time is over.
  absl::Status Check() const;
};

// Waits until one of `fds`, at most 16, is ready: poll's `revents` say which. Errors are those of
// Until::Check.
absl::Status WaitFor(absl::Span<pollfd> fds, const Until& until);
absl::Status WaitFor(int fd, short events, const Until& until);

}  // namespace flyball::http
