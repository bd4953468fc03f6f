// How many new connections the front's port takes within a short time: of all peers together, and
// of one. The more are taken, the fewer one may have, so that a few peers that connect all the time
// leave room for another: n of them get n/(n + 1) of all. Whoever has only just connected may be
// anybody, and costs memory until it has shown a certificate or its time for that is over: after
// the longest ClientHello 3 MB, since OpenSSL makes objects of what it holds. So who has shown a
// certificate does not count any more: a hundred Envoys may connect at once.
//
// Pure; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace flyball::front {

class AdmissionWindow {
 public:
  struct Limits {
    absl::Duration window = absl::Seconds(5);
    size_t most = 32;         // of all peers
    size_t most_of_one = 16;  // of one origin, and no more than are left
  };

  explicit AdmissionWindow(const Limits& limits) : limits_(limits) {}

  // Whether a connection from that origin is accepted now. A refused one does not count.
  bool Admit(uint64_t origin, MonotonicTime now);

  // One that was taken has shown its certificate. It is not known which, so the oldest is taken for
  // it: that one's time is over first, and so no more than `most` have shown none at any time.
  void Shown();

 private:
  struct Admitted {
    MonotonicTime at;
    uint64_t origin;
  };

  const Limits limits_;
  absl::Mutex mutex_;
  std::deque<Admitted> admitted_ ABSL_GUARDED_BY(mutex_);  // within the window, oldest first
};

}  // namespace flyball::front
