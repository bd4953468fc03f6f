// Finds the user of a request: front proxy, client certificate, bearer token, anonymous, in turn.
//
// Thread-safe. The peer's certificates are verified for each request against the present CA bundles
// (results are kept for a short time), so that a rotated CA takes effect on open connections.
#pragma once

#include <array>
#include <atomic>
#include <optional>

#include "apiservice/auth/token_authenticator.h"
#include "apiservice/auth/trust.h"
#include "apiservice/auth/user.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "base/snapshot.h"
#include "http/server/message.h"

namespace flyball::apiservice {

// The user names that authenticated_user_requests distinguishes; all others count as the last one.
inline constexpr std::array<absl::string_view, 7> kCountedUsers = {
    "admin",    "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default",
    "email_id",  // any with an @
    "other"};
// Upper bounds in seconds of apiserver_client_certificate_expiration_seconds.
inline constexpr std::array<double, 14> kExpirationBounds = {
    0,      1800,   3600,   7200,    21600,   43200,    86400,
    172800, 345600, 604800, 2592000, 7776000, 15552000, 31104000};

class Authenticator {
 public:
  struct Counters {
    std::atomic<uint64_t> success{0};  // anonymous included
    std::atomic<uint64_t> error{0};
    std::array<std::atomic<uint64_t>, kCountedUsers.size()> users{};  // of the successes
    // Remaining validity of clients' certificates, in seconds, when they were used.
    Histogram<kExpirationBounds.size()> certificates{kExpirationBounds};
  };

  // Both outlive it. `tokens` may be nullptr.
  Authenticator(TokenAuthenticator* tokens, Clock* clock);

  void SetTrust(Trust trust);

  // The user, anonymous included. kUnauthenticated: a credential was presented and none is good;
  // the message is for the log, not for the client. kResourceExhausted: too many requests wait for
  // the review of a token.
  absl::StatusOr<UserPtr> Authenticate(const http::HttpRequest& request);

  const Counters& counters() const { return counters_; }

 private:
  absl::StatusOr<UserPtr> FromFrontProxy(const http::HttpRequest& request, const Trust& trust);
  absl::StatusOr<UserPtr> FromClientCertificate(const http::HttpRequest& request,
                                                const Trust& trust);
  absl::StatusOr<UserPtr> FromToken(const http::HttpRequest& request) const;
  UserPtr CountSuccess(UserPtr user);  // returns it

  TokenAuthenticator* const tokens_;
  Clock* const clock_;
  Snapshot<Trust> trust_;
  Counters counters_;
};

// The user that a front proxy names in headers. Pure; the caller has checked by the peer's
// certificate that it may do so. nullopt: no user is named.
//
// User: the first configured header whose first value is not empty. Groups: every value of every
// group header. Extra: keys are lower-cased, then percent-decoded (unchanged if that fails); all
// values. Header names match in any case; values are not changed. Source: k8s.io/apiserver 0.34
// authentication/request/headerrequest.
std::optional<User> UserFromHeaders(const http::Headers& headers, const RequestHeaderNames& names);

}  // namespace flyball::apiservice
