#include "http/client/tls_client.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/openssl_ptr.h"
#include "base/read_file.h"
#include "base/status_macros.h"

namespace flyball::http {
namespace {

struct Pem {
  std::string text;
  std::string source;  // for messages: the file, or what the data is
};

absl::StatusOr<Pem> ReadPem(const std::string& file, const std::string& data,
                            absl::string_view what) {
  if (!data.empty()) return Pem{data, absl::StrCat(what, " data")};
  if (file.empty()) return Pem{};
  absl::StatusOr<std::string> text = ReadFile(file);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(what, " file ", text.status().message()));
  }
  return Pem{*std::move(text), absl::StrCat(what, " file ", file)};
}

BioPtr Memory(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

absl::StatusOr<std::vector<X509Ptr>> ReadCertificates(const Pem& pem) {
  std::vector<X509Ptr> certificates;
  const BioPtr bio = Memory(pem.text);
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    certificates.emplace_back(certificate);
  }
  ERR_clear_error();
  if (certificates.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(pem.source, " holds no PEM certificate"));
  }
  return certificates;
}

bool IsAddress(const std::string& name) {
  unsigned char buffer[sizeof(in6_addr)];
  return inet_pton(AF_INET, name.c_str(), buffer) == 1 ||
         inet_pton(AF_INET6, name.c_str(), buffer) == 1;
}

// Read once: many clients trust the machine's roots, which are hundreds of certificates.
X509_STORE* SystemRoots() {
  static X509_STORE* const roots = [] {
    X509_STORE* store = X509_STORE_new();
    X509_STORE_set_default_paths(store);
    return store;
  }();
  return roots;
}

}  // namespace

struct TlsClient::Material {
  X509StorePtr trusted;
  std::vector<X509Ptr> chain;  // own certificate first
  PkeyPtr key;
  std::string server_name;
  bool insecure = false;
  SslCtxPtr with_identity, without_identity;

  SslCtxPtr MakeContext(bool identity) const;
};

SslCtxPtr TlsClient::Material::MakeContext(bool identity) const {
  SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // 34 KiB for each idle connection
  SSL_CTX_set1_cert_store(context.get(), trusted.get());
  SSL_CTX_set_verify(context.get(), insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  if (!identity || chain.empty()) return context;
  SSL_CTX_use_certificate(context.get(), chain[0].get());
  for (size_t i = 1; i < chain.size(); ++i) {
    SSL_CTX_add1_chain_cert(context.get(), chain[i].get());
  }
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  return context;
}

absl::StatusOr<std::shared_ptr<const TlsClient>> TlsClient::Load(const TransportOptions& options) {
  auto material = std::make_shared<Material>();
  material->server_name = options.server_name;
  material->insecure = options.insecure_skip_verify;
  ASSIGN_OR_RETURN(const Pem ca, ReadPem(options.ca_file, options.ca_data, "CA"));
  if (ca.source.empty()) {
    X509_STORE_up_ref(SystemRoots());
    material->trusted.reset(SystemRoots());
  } else {
    material->trusted.reset(X509_STORE_new());
    ASSIGN_OR_RETURN(const auto certificates, ReadCertificates(ca));
    for (const auto& certificate : certificates) {
      X509_STORE_add_cert(material->trusted.get(), certificate.get());
    }
  }
  ASSIGN_OR_RETURN(const Pem certificate, ReadPem(options.client_cert_file,
                                                  options.client_cert_data, "client certificate"));
  ASSIGN_OR_RETURN(const Pem key,
                   ReadPem(options.client_key_file, options.client_key_data, "client key"));
  if (certificate.source.empty() != key.source.empty()) {
    return absl::InvalidArgumentError("a client certificate and its key must be given together");
  }
  if (!certificate.source.empty()) {
    ASSIGN_OR_RETURN(material->chain, ReadCertificates(certificate));
    // The callback answers a request for a pass phrase with none, instead of asking the terminal.
    material->key.reset(PEM_read_bio_PrivateKey(
        Memory(key.text).get(), nullptr, [](char*, int, int, void*) { return 0; }, nullptr));
    if (material->key == nullptr) {
      ERR_clear_error();
      return absl::InvalidArgumentError(
          absl::StrCat(key.source, " holds no PEM private key without a pass phrase"));
    }
    if (X509_check_private_key(material->chain[0].get(), material->key.get()) != 1) {
      ERR_clear_error();
      return absl::InvalidArgumentError(
          absl::StrCat(key.source, " is not the key of the certificate in ", certificate.source));
    }
  }
  material->with_identity = material->MakeContext(true);
  material->without_identity = material->MakeContext(false);
  return std::shared_ptr<const TlsClient>(new TlsClient(std::move(material), true));
}

std::shared_ptr<const TlsClient> TlsClient::WithoutIdentity() const {
  return std::shared_ptr<const TlsClient>(new TlsClient(material_, false));
}

ssl_st* TlsClient::NewConnection(const std::string& name) const {
  SSL* const ssl =
      SSL_new((with_identity_ ? material_->with_identity : material_->without_identity).get());
  if (ssl == nullptr) return nullptr;
  // A name given for the server is that of the configured host, hence goes with the identity.
  const std::string& expected =
      with_identity_ && !material_->server_name.empty() ? material_->server_name : name;
  const bool address = IsAddress(expected);
  if (!address) SSL_set_tlsext_host_name(ssl, expected.c_str());
  if (material_->insecure) return ssl;
  X509_VERIFY_PARAM* const param = SSL_get0_param(ssl);
  // As in Go, every trusted certificate is an anchor, self-signed or not.
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (address) {
    X509_VERIFY_PARAM_set1_ip_asc(param, expected.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(param, expected.c_str(), expected.size());
  }
  return ssl;
}

}  // namespace flyball::http
