// A listening TCP socket, the connections that it accepts, and their maximum number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "http/server/options.h"

namespace flyball::http {

struct Listener {
  int fd = -1;
  int port = 0;
};

// Non-blocking. "0.0.0.0" and "::" are all addresses of both families, as for Go's servers: a pod
// of a cluster with IPv6 alone is asked there. Without IPv6 "0.0.0.0" is those of IPv4.
// kInvalidArgument: not an IP address; kUnavailable: taken or not ours.
absl::StatusOr<Listener> Listen(const ListenOptions& options);

// The next connection, non-blocking; -1 with errno: none. `origin` gets a number that is equal for
// equal addresses of the peer, and for IPv6 for equal networks of 64 bits.
int Accept(int listener, uint64_t* origin);

// How many connections the process may have, at most `wanted`. Raises the soft limit of file
// descriptors to the hard one, as Go's runtime does, and leaves some for what the process itself
// opens: files, the API server, Prometheus, targets of scrapes, the servers of triggers.
size_t ConnectionsPossible(size_t wanted);

}  // namespace flyball::http
