// The options of the API server: one plain struct, filled from flags and passed down.
//
// Defaults are prometheus-adapter 0.12.0's unless a field says otherwise. A duration of zero means
// what the field's comment says, never "for ever".
#pragma once

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "apiservice/auth/options.h"
#include "apiservice/endpoints/options.h"
#include "http/server/options.h"

namespace flyball::apiservice {

// Makes a page for people that depends on the query of its URL, as JSON. `parameter` returns the
// decoded value of a query parameter; "" if it is not given.
using DebugParameter = std::function<std::string(const char* name)>;
using DebugPage = std::function<std::string(const DebugParameter& parameter)>;

struct ServerOptions {
  http::ListenOptions listen;
  http::TlsOptions tls;
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  LimitOptions limits;
  absl::Duration shutdown_delay;  // --shutdown-delay-duration
  ProgramVersion version;
};

}  // namespace flyball::apiservice
