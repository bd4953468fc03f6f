#include "scaler/front/module/grpc/peers.h"

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <grpcpp/server_context.h>

#include <fstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::front {
namespace {

constexpr unsigned kLookAgainSeconds = 3;

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

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsFor(
    const DataPathServerOptions& options) {
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
  return tls::TlsServerCredentials(credentials);
}

grpc::Status CheckPeer(const grpc::ServerContextBase& call, const std::string& peer_name) {
  if (peer_name.empty()) return grpc::Status::OK;
  for (const grpc::string_ref& name : call.auth_context()->GetPeerIdentity()) {
    if (name == peer_name) return grpc::Status::OK;
  }
  return grpc::Status(grpc::StatusCode::PERMISSION_DENIED,
                      "the certificate of this connection is not of the front");
}

}  // namespace flyball::front
