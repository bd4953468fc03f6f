// The command line of `flyball serve`: prometheus-adapter 0.12.0's flags by name and default, and
// some of our own.
//
// Pure: turns words into a struct. A flag that equals a library's option is read into that option.
// Flags of the original that have no effect in this program are accepted and named in `warnings`.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "adapter/adapter.h"
#include "apiservice/options.h"
#include "serve/go_flags.h"
#include "serve/live_flags.h"
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
  std::string nan_value = "zero";   // or "drop"
  adapter::AdapterOptions adapter;  // parsing replaces a relist.max_age of zero by the interval

  // Objects.
  std::string objects;  // folder of YAML files, instead of a cluster
  std::string lister_kubeconfig;
  absl::Duration discovery_interval = absl::ZeroDuration();

  // Serving. ServerOptionsFrom adds the fields below to `server`.
  apiservice::ServerOptions server;
  bool bind_address_given = false;
  std::vector<std::string> tls_sni_cert_keys;
  // Limits for clients. These are signed, unlike the options that they become, so that a negative
  // number can be refused with the name of its flag.
  int max_connection_bytes = 40 << 20;
  int max_header_bytes = 1 << 20;
  int max_header_lines = 4096;
  int max_selector_bytes = 64 << 10;
  int max_answer_bytes = 32 << 20;
  std::string authentication_kubeconfig, authorization_kubeconfig;
  bool authentication_skip_lookup = false;

  LiveFlags live;
  ScalerFlags scaler;

  // Logs.
  int verbosity = 0;
  std::string log_format = "text";  // or "json"

  std::vector<std::string> warnings;
  std::string help;  // set by --help: print it and end with status 0
};

// Adds the flags for the address of Prometheus and the credentials for it.
void AddPrometheusFlags(GoFlags flags, ServeFlags& f);

// The message names the flag.
//   kInvalidArgument     the words cannot be parsed: unknown flag, wrong type
//   kFailedPrecondition  they can, but not be carried out (no --config, unknown verb)
absl::StatusOr<ServeFlags> ParseServeFlags(const std::vector<std::string>& args);

}  // namespace flyball::serve
