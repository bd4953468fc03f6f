// The options of authentication and authorization.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"

namespace flyball::apiservice {

// The headers in which a front proxy names a user.
struct RequestHeaderNames {
  std::vector<std::string> username_headers = {"x-remote-user"};
  std::vector<std::string> group_headers = {"x-remote-group"};
  std::vector<std::string> uid_headers;  // none: X-Remote-Uid is dropped
  std::vector<std::string> extra_prefixes = {"x-remote-extra-"};
};

// Which front proxies may name a user, and in which headers. Without a CA file here, all of this
// comes from the ConfigMap extension-apiserver-authentication, as far as that has it.
struct RequestHeaderOptions {
  std::string client_ca_file;              // --requestheader-client-ca-file
  std::vector<std::string> allowed_names;  // --requestheader-allowed-names; empty: every name
  RequestHeaderNames headers;
};

struct AuthenticationOptions {
  std::string client_ca_file;  // --client-ca-file; "" = the ConfigMap's
  RequestHeaderOptions request_header;
  bool lookup = true;                                  // false: --authentication-skip-lookup
  bool tolerate_lookup_failure = false;                // --authentication-tolerate-lookup-failure
  absl::Duration token_cache_ttl = absl::Seconds(10);  // --authentication-token-webhook-cache-ttl
  // Tokens that need no review, for use without a cluster: lines `token,user,uid[,"group,group"]`
  // like kube-apiserver's --token-auth-file. Re-read on change.
  std::string token_file;
};

// A bearer token in a request without Authorization: the API server's proxy to pods does not pass
// that header on.
inline constexpr char kTokenHeader[] = "X-Flyball-Token";

enum class AuthorizationMode {
  kReview,         // a SubjectAccessReview for each new question
  kAuthenticated,  // everybody with a valid credential; anonymous is refused
  kAll,            // everybody: only for a server on loopback
};

struct AuthorizationOptions {
  AuthorizationMode mode = AuthorizationMode::kReview;
  // --authorization-always-allow-paths: exact paths, with or without a leading slash; a trailing *
  // matches a prefix.
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  absl::Duration authorized_ttl = absl::Seconds(10);
  absl::Duration unauthorized_ttl = absl::Seconds(10);
};

}  // namespace flyball::apiservice
