// A listening TCP socket.
#pragma once

#include "absl/status/statusor.h"
#include "apiservice/options.h"

namespace flyball::apiservice {

struct Listener {
  int fd = -1;
  int port = 0;
};

// Non-blocking. kInvalidArgument: not an IP address; kUnavailable: taken or not ours.
absl::StatusOr<Listener> Listen(const ListenOptions& options);

}  // namespace flyball::apiservice
