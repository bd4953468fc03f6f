#include "serve/server_options.h"

#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "serve/build_info.h"

namespace flyball::serve {
namespace {

bool KnowsUsers(const ServeFlags& flags) {
  const apiservice::AuthenticationOptions& options = flags.server.authentication;
  return !options.client_ca_file.empty() || !options.token_file.empty() ||
         !options.request_header.client_ca_file.empty() || ReviewersOf(flags).authentication;
}

bool IsLoopback(const std::string& address) {
  return address == "localhost" || address == "::1" || absl::StartsWith(address, "127.");
}

// Sets who may ask, and from where, if there is no cluster that authorizes requests.
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
  if (IsLoopback(options.listen.bind_address)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--bind-address ", options.listen.bind_address,
                   ": with --objects and nothing to authenticate users by, only loopback is "
                   "served; give --client-ca-file, --token-auth-file or "
                   "--authentication-kubeconfig, or bind to 127.0.0.1"));
}

}  // namespace

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
  apiservice::ServerOptions options = flags.server;
  for (const std::string& text : flags.tls_sni_cert_keys) {
    ASSIGN_OR_RETURN(http::SniCertificate certificate, ParseSniCertificate(text));
    options.tls.sni.push_back(std::move(certificate));
  }
  options.authentication.lookup = !flags.authentication_skip_lookup;
  options.limits.max_selector_bytes = static_cast<size_t>(flags.max_selector_bytes);
  options.limits.max_answer_bytes = static_cast<size_t>(flags.max_answer_bytes);
  options.listen.max_connection_bytes = static_cast<size_t>(flags.max_connection_bytes);
  options.listen.request.max_head_bytes = static_cast<size_t>(flags.max_header_bytes);
  options.listen.request.max_header_lines = static_cast<size_t>(flags.max_header_lines);
  if (flags.live.live()) {
    options.listen.request.keep_bodies = true;
    options.listen.request.max_body_bytes = static_cast<size_t>(flags.live.max_request_bytes);
  }
  const BuildInfo& build = ThisBuild();
  options.version = {absl::StrCat("v", build.version), build.commit, build.date};

  if (!ReviewersOf(flags).authorization) RETURN_IF_ERROR(KeepToLoopback(flags, options));
  return options;
}

Reviewers ReviewersOf(const ServeFlags& flags) {
  const bool cluster = flags.objects.empty();
  return {.authentication = cluster || !flags.authentication_kubeconfig.empty(),
          .authorization = cluster || !flags.authorization_kubeconfig.empty()};
}

}  // namespace flyball::serve
