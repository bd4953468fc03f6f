#include "serve/server_options.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace flyball::serve {
namespace {

bool KnowsUsers(const ServeFlags& flags) {
  return !flags.client_ca_file.empty() || !flags.token_auth_file.empty() ||
         !flags.requestheader_client_ca_file.empty() || ReviewersOf(flags).authentication;
}

// Who may ask, and from where, when no cluster can be asked about it.
absl::Status KeepToLoopback(const ServeFlags& flags, apiservice::ServerOptions& options) {
  if (KnowsUsers(flags)) {
    options.authorization.mode = apiservice::AuthorizationMode::kAuthenticated;
    return absl::OkStatus();
  }
  options.authorization.mode = apiservice::AuthorizationMode::kAll;
  if (!flags.bind_address_given) {
    options.listen.bind_address = "127.0.0.1";
    return absl::OkStatus();
  }
  if (IsLoopback(flags.bind_address)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--bind-address ", flags.bind_address,
                   ": with --objects and nothing to authenticate users by, only loopback is "
                   "served; give --client-ca-file, --token-auth-file or "
                   "--authentication-kubeconfig, or bind to 127.0.0.1"));
}

}  // namespace

bool IsLoopback(const std::string& address) {
  return address == "localhost" || address == "::1" || absl::StartsWith(address, "127.");
}

absl::StatusOr<http::SniCertificate> ParseSniCertificate(const std::string& text) {
  const std::pair<std::string, std::string> files_and_names =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const std::vector<std::string> files = absl::StrSplit(files_and_names.first, ',');
  if (files.size() != 2 || files[0].empty() || files[1].empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--tls-sni-cert-key: expected CERT,KEY or CERT,KEY:NAME,…, got \"", text, "\""));
  }
  return http::SniCertificate{
      .cert_file = files[0],
      .key_file = files[1],
      .names = absl::StrSplit(files_and_names.second, ',', absl::SkipEmpty())};
}

absl::StatusOr<apiservice::ServerOptions> ServerOptionsFrom(const ServeFlags& flags) {
  apiservice::ServerOptions options;
  options.listen.bind_address = flags.bind_address;
  options.listen.port = flags.secure_port;
  options.listen.reuse_address = flags.permit_address_sharing;
  options.listen.reuse_port = flags.permit_port_sharing;

  options.tls.cert_file = flags.tls_cert_file;
  options.tls.key_file = flags.tls_private_key_file;
  options.tls.cert_dir = flags.cert_dir;
  options.tls.min_version = flags.tls_min_version;
  options.tls.cipher_suites = flags.tls_cipher_suites;
  for (const std::string& text : flags.tls_sni_cert_keys) {
    ASSIGN_OR_RETURN(http::SniCertificate certificate, ParseSniCertificate(text));
    options.tls.sni.push_back(std::move(certificate));
  }

  apiservice::AuthenticationOptions& authentication = options.authentication;
  authentication.client_ca_file = flags.client_ca_file;
  authentication.request_header.client_ca_file = flags.requestheader_client_ca_file;
  authentication.request_header.allowed_names = flags.requestheader_allowed_names;
  authentication.request_header.username_headers = flags.requestheader_username_headers;
  authentication.request_header.group_headers = flags.requestheader_group_headers;
  authentication.request_header.extra_prefixes = flags.requestheader_extra_headers_prefix;
  authentication.lookup = !flags.authentication_skip_lookup;
  authentication.tolerate_lookup_failure = flags.authentication_tolerate_lookup_failure;
  authentication.token_cache_ttl = flags.authentication_token_cache_ttl;
  authentication.token_file = flags.token_auth_file;

  options.authorization.always_allow_paths = flags.authorization_always_allow_paths;
  options.authorization.authorized_ttl = flags.authorization_allow_cache_ttl;
  options.authorization.unauthorized_ttl = flags.authorization_deny_cache_ttl;

  options.limits.max_in_flight = flags.max_requests_inflight;
  options.limits.max_reviews = flags.max_reviews_inflight;
  options.limits.max_selector_bytes = static_cast<size_t>(flags.max_selector_bytes);
  options.limits.max_answer_bytes = static_cast<size_t>(flags.max_answer_bytes);
  options.listen.max_connections = flags.max_connections;
  options.listen.max_connection_bytes = static_cast<size_t>(flags.max_connection_bytes);
  options.listen.max_header_bytes = static_cast<size_t>(flags.max_header_bytes);
  options.listen.max_header_lines = static_cast<size_t>(flags.max_header_lines);
  options.lifecycle.shutdown_delay = flags.shutdown_delay;
  options.version.git_version = absl::StrCat("v", FLYBALL_VERSION);

  if (!ReviewersOf(flags).authorization) RETURN_IF_ERROR(KeepToLoopback(flags, options));
  return options;
}

Reviewers ReviewersOf(const ServeFlags& flags) {
  const bool cluster = flags.objects.empty();
  return {.authentication = cluster || !flags.authentication_kubeconfig.empty(),
          .authorization = cluster || !flags.authorization_kubeconfig.empty()};
}

}  // namespace flyball::serve
