#include "kube/tls_client.h"

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

namespace flyball::kube {
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

struct PeerCheck {
  std::string server_name;  // for SNI; "" sends none
  std::string* why = nullptr;
};

int ContextIndex() {
  static const int index = SSL_CTX_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* check, CRYPTO_EX_DATA*, int, long, void*) {
        delete static_cast<PeerCheck*>(check);
      });
  return index;
}

const PeerCheck* CheckOf(const SSL* ssl) {
  return static_cast<PeerCheck*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ContextIndex()));
}

// The HTTP library sends its host as the server name; this replaces it before the first message.
void SetServerName(const SSL* ssl, int where, int /*value*/) {
  if ((where & SSL_CB_HANDSHAKE_START) == 0) return;
  const PeerCheck* check = CheckOf(ssl);
  const char* name = check->server_name.empty() ? nullptr : check->server_name.c_str();
  SSL_set_tlsext_host_name(const_cast<SSL*>(ssl), name);
}

int RememberWhy(int ok, X509_STORE_CTX* store) {
  if (ok == 1) return ok;
  const auto* ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  *CheckOf(ssl)->why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(store));
  return ok;
}

}  // namespace

struct TlsClient::Material {
  X509StorePtr trusted;
  std::vector<X509Ptr> chain;  // own certificate first
  PkeyPtr key;
  std::string server_name;
  bool insecure = false;
};

absl::StatusOr<std::shared_ptr<const TlsClient>> TlsClient::Load(const TransportOptions& options) {
  auto material = std::make_shared<Material>();
  material->server_name = options.server_name;
  material->insecure = options.insecure_skip_verify;
  material->trusted.reset(X509_STORE_new());
  ASSIGN_OR_RETURN(const Pem ca, ReadPem(options.ca_file, options.ca_data, "CA"));
  if (ca.source.empty()) {
    X509_STORE_set_default_paths(material->trusted.get());
  } else {
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
  return std::shared_ptr<const TlsClient>(new TlsClient(std::move(material), true));
}

std::shared_ptr<const TlsClient> TlsClient::WithoutIdentity() const {
  return std::shared_ptr<const TlsClient>(new TlsClient(material_, false));
}

void TlsClient::Apply(ssl_ctx_st* context, const std::string& name, std::string* why) const {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set1_cert_store(context, material_->trusted.get());
  if (with_identity_ && !material_->chain.empty()) {
    SSL_CTX_use_certificate(context, material_->chain[0].get());
    for (size_t i = 1; i < material_->chain.size(); ++i) {
      SSL_CTX_add1_chain_cert(context, material_->chain[i].get());
    }
    SSL_CTX_use_PrivateKey(context, material_->key.get());
  }
  // A name given for the server is that of the configured host, hence goes with the identity.
  const std::string& expected =
      with_identity_ && !material_->server_name.empty() ? material_->server_name : name;
  const bool address = IsAddress(expected);
  SSL_CTX_set_ex_data(context, ContextIndex(), new PeerCheck{address ? "" : expected, why});
  SSL_CTX_set_info_callback(context, SetServerName);
  if (material_->insecure) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return;
  }
  X509_VERIFY_PARAM* const param = SSL_CTX_get0_param(context);
  // As in Go, every trusted certificate is an anchor, self-signed or not.
  X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_PARTIAL_CHAIN);
  X509_VERIFY_PARAM_set_hostflags(
      param, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (address) {
    X509_VERIFY_PARAM_set1_ip_asc(param, expected.c_str());
  } else {
    X509_VERIFY_PARAM_set1_host(param, expected.c_str(), expected.size());
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, RememberWhy);
}

}  // namespace flyball::kube
