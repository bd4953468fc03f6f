// What the API server can be told: one plain struct, filled from flags by cmd/ and passed down.
//
// Defaults are prometheus-adapter 0.12.0's unless a field says otherwise. A duration of zero means
// what the field's comment says, never "for ever".
#pragma once

#include "absl/time/time.h"
#include "apiservice/auth/options.h"
#include "apiservice/endpoints/options.h"
#include "http/server/options.h"

namespace flyball::apiservice {

struct LifecycleOptions {
  absl::Duration shutdown_delay;                     // --shutdown-delay-duration
  absl::Duration drain_timeout = absl::Seconds(60);  // for requests under way at shutdown
};

struct ServerOptions {
  http::ListenOptions listen;
  http::TlsOptions tls;
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  LimitOptions limits;
  LifecycleOptions lifecycle;
  VersionInfo version;
};

}  // namespace flyball::apiservice
