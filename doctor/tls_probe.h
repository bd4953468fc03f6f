// Asks a TLS server for its certificate and hangs up.
//
// Blocking; nothing is sent beyond the handshake, nothing is verified.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace flyball::doctor {

// The certificates that it shows for `server_name`, its own first, as PEM. `host` is a name or an
// address, IPv6 without brackets. kUnavailable with the reason when there is no handshake within
// `timeout` (looking up a name is bounded by the resolver's limits).
absl::StatusOr<std::string> ShownCertificates(const std::string& host, int port,
                                              const std::string& server_name,
                                              absl::Duration timeout);

}  // namespace flyball::doctor
