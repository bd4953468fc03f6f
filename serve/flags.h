// The command line of `flyball serve`: prometheus-adapter 0.12.0's flags by name and default, and
// our own few.
//
// Pure: words in, struct out. Flags that have a meaning nowhere in this program are accepted and
// named in `warnings`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "serve/go_flags.h"
#include "serve/scaler_flags.h"

namespace flyball::serve {

struct ServeFlags {
  // Rules and metric source.
  std::string config;
  std::vector<std::string> prometheus_urls;  // empty: https://localhost
  bool prometheus_auth_incluster = false;
  std::string prometheus_auth_config;
  std::string prometheus_ca_file;
  std::string prometheus_client_tls_cert_file, prometheus_client_tls_key_file;
  std::string prometheus_token_file;
  std::vector<std::string> prometheus_headers;  // K=V
  std::string prometheus_verb = "GET";
  absl::Duration prometheus_timeout = absl::Seconds(60);
  absl::Duration metrics_relist_interval = absl::Minutes(10);
  absl::Duration metrics_max_age = absl::ZeroDuration();  // zero: the relist interval
  absl::Duration query_freshness = absl::Seconds(1);
  bool query_merge = true;
  std::string nan_value = "zero";  // or "drop"

  // Objects.
  std::string objects;  // folder of YAML files, instead of a cluster
  std::string lister_kubeconfig;
  absl::Duration discovery_interval = absl::ZeroDuration();

  // Serving.
  int secure_port = 443;
  std::string bind_address = "0.0.0.0";
  bool bind_address_given = false;
  std::string cert_dir = "apiserver.local.config/certificates";
  std::string tls_cert_file, tls_private_key_file;
  std::string tls_min_version;
  std::vector<std::string> tls_cipher_suites;
  std::vector<std::string> tls_sni_cert_keys;
  bool permit_address_sharing = false;
  bool permit_port_sharing = false;
  int max_requests_inflight = 400;
  // What clients may take; the defaults are those of apiservice/options.h.
  int max_reviews_inflight = 128;
  int max_connections = 10000;
  int max_connection_bytes = 48 << 20;
  int max_header_bytes = 1 << 20;
  int max_header_lines = 4096;
  int max_selector_bytes = 64 << 10;
  int max_answer_bytes = 32 << 20;
  absl::Duration shutdown_delay = absl::ZeroDuration();

  // Authentication and authorization.
  std::string authentication_kubeconfig, authorization_kubeconfig;
  bool authentication_skip_lookup = false;
  bool authentication_tolerate_lookup_failure = false;
  absl::Duration authentication_token_cache_ttl = absl::Seconds(10);
  absl::Duration authorization_allow_cache_ttl = absl::Seconds(10);
  absl::Duration authorization_deny_cache_ttl = absl::Seconds(10);
  std::vector<std::string> authorization_always_allow_paths = {"/healthz", "/readyz", "/livez"};
  std::string client_ca_file;
  std::string token_auth_file;  // static tokens, for use without a cluster
  std::string requestheader_client_ca_file;
  std::vector<std::string> requestheader_allowed_names;
  std::vector<std::string> requestheader_username_headers = {"x-remote-user"};
  std::vector<std::string> requestheader_group_headers = {"x-remote-group"};
  std::vector<std::string> requestheader_extra_headers_prefix = {"x-remote-extra-"};

  ScalerFlags scaler;

  // Logs.
  int verbosity = 0;
  std::string log_format = "text";  // or "json"

  std::vector<std::string> warnings;
  std::string help;  // set when --help was asked for: print it and end with status 0
};

// Those that say which Prometheus to ask, and as whom.
void AddPrometheusFlags(GoFlags flags, ServeFlags& f);

// The message names the flag.
//   kInvalidArgument     the words don't parse: unknown flag, wrong type
//   kFailedPrecondition  they parse, but what they ask for can't be (no --config, unknown verb)
absl::StatusOr<ServeFlags> ParseServeFlags(const std::vector<std::string>& args);

}  // namespace flyball::serve
