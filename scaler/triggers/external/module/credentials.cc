#include "scaler/triggers/external/module/credentials.h"

#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace flyball::scaler {
namespace {

namespace tls = grpc::experimental;

constexpr size_t kMaxServerCertificateBytes = 8 << 10;
constexpr size_t kMaxServerNames = 100;  // of two bytes each may be, and takes 300 in memory

// Ends a connection whose server shows too many certificates or names, or has a certificate for
// another name where `names` is to check that.
class ServerCheck : public tls::ExternalCertificateVerifier {
 public:
  explicit ServerCheck(std::shared_ptr<tls::CertificateVerifier> names)
      : names_(std::move(names)) {}

  bool Verify(tls::TlsCustomVerificationCheckRequest* request,
              std::function<void(grpc::Status)> callback, grpc::Status* verdict) override {
    const size_t names = request->dns_names().size() + request->ip_names().size() +
                         request->uri_names().size() + request->email_names().size();
    // PEM has four characters for three bytes.
    if (names <= kMaxServerNames &&
        request->peer_cert_full_chain().size() / 4 * 3 <= kMaxServerCertificateBytes) {
      return names_->Verify(request, std::move(callback), verdict);
    }
    *verdict = grpc::Status(grpc::StatusCode::UNAUTHENTICATED, "too many certificates or names");
    return kAtOnce;
  }
  void Cancel(tls::TlsCustomVerificationCheckRequest* request) override { names_->Cancel(request); }

 private:
  static constexpr bool kAtOnce = true;

  const std::shared_ptr<tls::CertificateVerifier> names_;
};

std::shared_ptr<tls::CertificateVerifier> NamesOf(const ExternalAddress& address) {
  if (address.skip_verify) return std::make_shared<tls::NoOpCertificateVerifier>();
  return std::make_shared<tls::HostNameCertificateVerifier>();
}

}  // namespace

std::shared_ptr<grpc::ChannelCredentials> CredentialsFor(const ExternalAddress& address) {
  if (!address.tls) return grpc::InsecureChannelCredentials();
  tls::TlsChannelCredentialsOptions options;
  const bool own_ca = !address.ca.empty() && !address.skip_verify;
  std::vector<tls::IdentityKeyCertPair> identity;
  if (!address.cert.empty()) identity.push_back({address.key, address.cert});
  if (own_ca || !identity.empty()) {
    options.set_certificate_provider(std::make_shared<tls::StaticDataCertificateProvider>(
        own_ca ? address.ca : std::string(), identity));
  }
  if (own_ca) options.watch_root_certs();
  if (!identity.empty()) options.watch_identity_key_cert_pairs();
  options.set_verify_server_certs(!address.skip_verify);
  options.set_check_call_host(!address.skip_verify);
  options.set_certificate_verifier(
      tls::ExternalCertificateVerifier::Create<ServerCheck>(NamesOf(address)));
  return tls::TlsCredentials(options);
}

}  // namespace flyball::scaler
