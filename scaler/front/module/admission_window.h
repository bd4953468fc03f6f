// Limits how many new connections the front's port accepts within a short time: in all, and from
// one peer. The more are accepted, the fewer one peer may have, so that a few peers that connect
// all the time leave room for another: n of them get n/(n + 1) of all. A new connection may be from
// anybody, and costs memory until it has shown a certificate or timed out: up to 3 MB after the
// longest ClientHello, since OpenSSL makes objects of what it contains.
//
// Pure; not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

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

 private:
  struct Admitted {
    MonotonicTime at;
    uint64_t origin;
  };

  const Limits limits_;
  std::deque<Admitted> admitted_;  // within the window, oldest first
};

}  // namespace flyball::front
