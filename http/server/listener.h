// A listening TCP socket, and whom it accepts.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "http/server/options.h"

namespace flyball::http {

struct Listener {
  int fd = -1;
  int port = 0;
};

// Non-blocking. kInvalidArgument: not an IP address; kUnavailable: taken or not ours.
absl::StatusOr<Listener> Listen(const ListenOptions& options);

// The next connection, non-blocking; -1 with errno: none. `origin`: a number for who it comes from,
// equal for equal addresses, of IPv6 for equal networks of 64 bits.
int Accept(int listener, uint64_t* origin);

}  // namespace flyball::http
