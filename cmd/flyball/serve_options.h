// From the flags of `flyball serve` to the options of the floors below. Pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "apiservice/options.h"
#include "cmd/flyball/serve_flags.h"

namespace flyball::cmd {

// Without a cluster and without a way to tell users apart, the server stays on loopback: another
// --bind-address is kInvalidArgument, and none given is 127.0.0.1.
absl::StatusOr<apiservice::ServerOptions> ServerOptionsFrom(const ServeFlags& flags);

// `CERT,KEY[:NAME,…]` of --tls-sni-cert-key.
absl::StatusOr<apiservice::SniCertificate> ParseSniCertificate(const std::string& text);

// 127.0.0.0/8, ::1 and localhost.
bool IsLoopback(const std::string& address);

}  // namespace flyball::cmd
