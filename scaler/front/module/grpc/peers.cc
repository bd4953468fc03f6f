#include "scaler/front/module/grpc/peers.h"

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server_context.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "http/address.h"

namespace flyball::front {
namespace {

constexpr unsigned kLookAgainSeconds = 3;

grpc::Status OfSomebodyElse() {
  return grpc::Status(grpc::StatusCode::PERMISSION_DENIED,
                      "the certificate of this connection is not of the front");
}

absl::Status CheckFile(absl::string_view what, const std::string& path) {
  if (path.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "TLS between the front and Flyball needs certificate, key and CA; no ", what, " is named"));
  }
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (absl::string_view(line).substr(0, 11) == "-----BEGIN ") return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": the ", what, " of the front's port can't be read, or is no PEM file"));
}

// Ends a connection during its handshake unless its certificate has the peer's name. CheckPeer
// would refuse its calls, but until then gRPC would read all that it sends.
class NamedPeer : public grpc::experimental::ExternalCertificateVerifier {
 public:
  NamedPeer(std::string name, std::function<void()> on_named)
      : name_(std::move(name)), on_named_(std::move(on_named)) {}

  bool Verify(grpc::experimental::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> /*callback*/, grpc::Status* verdict) override {
    std::vector<grpc::string_ref> names = request->dns_names();
    for (const auto& more : {request->uri_names(), request->email_names(), request->ip_names()}) {
      names.insert(names.end(), more.begin(), more.end());
    }
    if (names.empty()) names.push_back(request->common_name());
    const bool named = std::find(names.begin(), names.end(), name_) != names.end();
    if (named) on_named_();
    *verdict = named ? grpc::Status::OK : OfSomebodyElse();
    return kAtOnce;
  }
  void Cancel(grpc::experimental::TlsCustomVerificationCheckRequest* /*request*/) override {}

 private:
  static constexpr bool kAtOnce = true;

  const std::string name_;
  const std::function<void()> on_named_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsFor(
    const DataPathServerOptions& options, std::function<void()> on_named) {
  if (options.cert_file.empty() && options.key_file.empty() && options.ca_file.empty()) {
    return grpc::InsecureServerCredentials();
  }
  RETURN_IF_ERROR(CheckFile("certificate", options.cert_file));
  RETURN_IF_ERROR(CheckFile("key", options.key_file));
  RETURN_IF_ERROR(CheckFile("CA", options.ca_file));
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions credentials(
      std::make_shared<tls::FileWatcherCertificateProvider>(options.key_file, options.cert_file,
                                                            options.ca_file, kLookAgainSeconds));
  credentials.watch_root_certs();
  credentials.watch_identity_key_cert_pairs();
  credentials.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  if (!options.peer_name.empty()) {
    credentials.set_certificate_verifier(tls::ExternalCertificateVerifier::Create<NamedPeer>(
        options.peer_name, std::move(on_named)));
  }
  return tls::TlsServerCredentials(credentials);
}

grpc::Status CheckPeer(const grpc::ServerContextBase& call, const std::string& peer_name) {
  if (peer_name.empty()) return grpc::Status::OK;
  for (const grpc::string_ref& name : call.auth_context()->GetPeerIdentity()) {
    if (name == peer_name) return grpc::Status::OK;
  }
  return OfSomebodyElse();
}

// The port listens on both families with one socket, where an IPv4 address looks like one of IPv6.
// A peer is written as `ipv6:%5Bfd00::7%5D:4711`.
bool CameByIpv6(const grpc::ServerContextBase& call) {
  const std::string peer = absl::StrReplaceAll(call.peer(), {{"%5B", "["}, {"%5D", "]"}});
  absl::string_view text = peer;
  if (!absl::ConsumePrefix(&text, "ipv6:")) return false;
  const std::optional<http::Endpoint> endpoint = http::Endpoint::Parse(text);
  return !endpoint.has_value() || !endpoint->address.IsMapped();  // none: it has a zone
}

}  // namespace flyball::front
