// The user that a front proxy names in headers.
//
// Pure. Whether the peer may say so (its certificate) is authenticator.h's question. Source:
// k8s.io/apiserver 0.34 authentication/request/headerrequest.
#pragma once

#include <optional>

#include "apiservice/auth/options.h"
#include "apiservice/auth/user.h"
#include "http/server/message.h"

namespace flyball::apiservice {

// User: the first configured header whose first value is not empty. Groups: every value of every
// group header. Extra: keys are lower-cased, then percent-decoded (kept as they are if that fails);
// all values. Header names match in any case; values are taken as they stand. nullopt: no user is
// named.
std::optional<User> UserFromHeaders(const http::Headers& headers, const RequestHeaderNames& names);

}  // namespace flyball::apiservice
