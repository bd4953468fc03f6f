// What the API server can be told: one plain struct, filled from flags by cmd/ and passed down.
//
// Defaults are prometheus-adapter 0.12.0's unless a field says otherwise. A duration of zero means
// what the field's comment says, never "for ever".
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace flyball::apiservice {

// Where to listen, and how much of it one process bears.
struct ListenOptions {
  std::string bind_address = "0.0.0.0";  // --bind-address; an IPv4 or IPv6 address
  int port = 443;                        // --secure-port; 0 takes a free one, see ApiServer::port()
  bool reuse_address = false;  // --permit-address-sharing: SO_REUSEADDR (always set on Linux)
  bool reuse_port = false;     // --permit-port-sharing: SO_REUSEPORT
  // --max-connections, --max-connection-bytes: when there are more, or they take more memory
  // together, those that are quiet longest go.
  int max_connections = 10000;
  size_t max_connection_bytes = 48u << 20;
  int workers = 0;      // threads that are ready to serve; 0: one for each processor, 8 at least
  int max_workers = 0;  // with those that wait for somebody else; 0: enough for all that may
  absl::Duration handshake_timeout = absl::Seconds(10);
  absl::Duration header_timeout = absl::Seconds(32);  // from a request's first byte to its last
  absl::Duration idle_timeout = absl::Seconds(120);   // the aggregator keeps its own ends for 90 s
  absl::Duration write_timeout = absl::Seconds(30);   // for one answer to a peer that reads slowly
  size_t max_header_bytes = 1 << 20;  // --max-header-bytes: request line and headers; more is 431
  size_t max_header_lines = 4096;     // --max-header-lines: more is 431
  size_t max_body_bytes = 1 << 20;    // nothing served reads a body; more closes the connection
};

// One --tls-sni-cert-key: `cert,key` or `cert,key:name,name`.
struct SniCertificate {
  std::string cert_file;
  std::string key_file;
  // Names or `*.suffix` patterns it is for; empty: those of the certificate.
  std::vector<std::string> names;
};

// The serving certificate. Files are re-read when they change; a pair is used once it matches.
struct TlsOptions {
  std::string cert_file;  // --tls-cert-file (PEM, chain); both or neither
  std::string key_file;   // --tls-private-key-file
  // --cert-dir: where a self-signed apiserver.crt and apiserver.key are made, or found, when no
  // file is given.
  std::string cert_dir = "apiserver.local.config/certificates";
  std::vector<SniCertificate> sni;         // --tls-sni-cert-key
  std::string min_version;                 // --tls-min-version: "", VersionTLS10 … VersionTLS13
  std::vector<std::string> cipher_suites;  // --tls-cipher-suites: Go's names; empty: defaults
};

// Whose word about the user is taken, and in which headers. Values of the ConfigMap
// extension-apiserver-authentication replace those left empty here.
struct RequestHeaderOptions {
  std::string client_ca_file;              // --requestheader-client-ca-file
  std::vector<std::string> allowed_names;  // --requestheader-allowed-names; empty: every name
  std::vector<std::string> username_headers = {"x-remote-user"};
  std::vector<std::string> group_headers = {"x-remote-group"};
  std::vector<std::string> uid_headers;  // none: X-Remote-Uid is dropped
  std::vector<std::string> extra_prefixes = {"x-remote-extra-"};
};

struct AuthenticationOptions {
  std::string client_ca_file;  // --client-ca-file; "" = the ConfigMap's
  RequestHeaderOptions request_header;
  bool lookup = true;                                  // false: --authentication-skip-lookup
  bool tolerate_lookup_failure = false;                // --authentication-tolerate-lookup-failure
  absl::Duration token_cache_ttl = absl::Seconds(10);  // --authentication-token-webhook-cache-ttl
  // Tokens known without asking anybody, for use without a cluster: lines
  // `token,user,uid[,"group,group"]` as kube-apiserver's --token-auth-file. Re-read on change.
  std::string token_file;
};

enum class AuthorizationMode {
  kReview,         // a SubjectAccessReview for each new question
  kAuthenticated,  // everybody whose credential is good; anonymous is refused
  kAll,            // everybody: only for a server on loopback
};

struct AuthorizationOptions {
  AuthorizationMode mode = AuthorizationMode::kReview;
  // --authorization-always-allow-paths: exact paths; a trailing * matches a prefix.
  std::vector<std::string> always_allow_paths = {"/healthz", "/readyz", "/livez"};
  absl::Duration authorized_ttl = absl::Seconds(10);
  absl::Duration unauthorized_ttl = absl::Seconds(10);
};

struct LimitOptions {
  int max_in_flight = 400;  // requests under way; more is 429, but for system:masters and probes
  absl::Duration request_timeout = absl::Seconds(60);  // also the cap of ?timeout=
  size_t response_cache_entries = 4096;                // 0 turns the cache of answers off
  size_t response_cache_bytes = 24u << 20;
  // --max-reviews-inflight: requests that wait for a TokenReview, and as many for a
  // SubjectAccessReview; more is 429.
  int max_reviews = 128;
  size_t max_selector_bytes = 64u << 10;  // --max-selector-bytes: see ParseSelector; more is 400
  size_t max_answer_bytes = 32u << 20;    // --max-answer-bytes: of a list of metrics; more is 413
};

struct LifecycleOptions {
  absl::Duration shutdown_delay;                     // --shutdown-delay-duration
  absl::Duration drain_timeout = absl::Seconds(60);  // for requests under way at shutdown
};

// What /version tells.
struct VersionInfo {
  std::string major = "1";
  std::string minor = "0";
  std::string git_version = "v0.0.0";
  std::string git_commit;
  std::string git_tree_state;
  std::string build_date;
};

struct ServerOptions {
  ListenOptions listen;
  TlsOptions tls;
  AuthenticationOptions authentication;
  AuthorizationOptions authorization;
  LimitOptions limits;
  LifecycleOptions lifecycle;
  VersionInfo version;
};

}  // namespace flyball::apiservice
