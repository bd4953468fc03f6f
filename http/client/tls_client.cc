#include "http/client/tls_client.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/openssl_ptr.h"
#include "base/read_file.h"
#include "base/status_macros.h"
#include "http/address.h"
#include "http/peer_keys.h"
#include "http/pem.h"

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

// The same with what is wrong said of the source.
template <typename T>
absl::StatusOr<T> Of(const Pem& pem, absl::StatusOr<T> read) {
  if (read.ok()) return read;
  return absl::Status(read.status().code(), absl::StrCat(pem.source, " ", read.status().message()));
}

// Read once, for the first connection that needs them: many clients trust the machine's roots,
// which are hundreds of certificates, and many of those speak no TLS.
X509_STORE* SystemRoots() {
  static X509_STORE* const roots = [] {
    X509_STORE* store = X509_STORE_new();
    X509_STORE_set_default_paths(store);
    return store;
  }();
  return roots;
}

// nullptr: the machine's roots.
absl::StatusOr<X509StorePtr> TrustedBy(const TransportOptions& options) {
  ASSIGN_OR_RETURN(const Pem ca, ReadPem(options.ca_file, options.ca_data, "CA"));
  if (ca.source.empty()) return nullptr;
  X509StorePtr trusted(X509_STORE_new());
  ASSIGN_OR_RETURN(const auto certificates, Of(ca, ReadPemCertificates(ca.text)));
  for (const auto& certificate : certificates) {
    X509_STORE_add_cert(trusted.get(), certificate.get());
  }
  return trusted;
}

// Verifies copies of the server's certificates: a verification attaches decoded data to a
// certificate, up to 60 times its bytes, and the server's own live as long as the connection.
int VerifyCopies(X509_STORE_CTX* context, void*) {
  X509* const leaf = X509_STORE_CTX_get0_cert(context);
  STACK_OF(X509)* const shown = X509_STORE_CTX_get0_untrusted(context);
  const X509Ptr copy(X509_dup(leaf));
  STACK_OF(X509)* const copies = sk_X509_deep_copy(shown, X509_dup, X509_free);
  X509_STORE_CTX_set_cert(context, copy.get());
  X509_STORE_CTX_set0_untrusted(context, copies);
  const int verified = X509_verify_cert(context);
  X509_STORE_CTX_set0_verified_chain(context, nullptr);  // or the connection would keep it
  X509_STORE_CTX_set_cert(context, leaf);
  X509_STORE_CTX_set0_untrusted(context, shown);
  sk_X509_pop_free(copies, X509_free);
  return verified;
}

// The limit for all that a server shows. An idle connection keeps them, and each byte of small
// certificates takes up to 30 in memory.
constexpr long kMaxServerCertificateBytes = 32 << 10;

SslCtxPtr MakeContext(X509_STORE* trusted, bool insecure) {
  SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  UseCurvesOnly(context.get());
  SSL_CTX_set_max_cert_list(context.get(), kMaxServerCertificateBytes);
  CheckPeerKeys(context.get());
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);  // as Go
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);    // 34 KiB for each idle connection
  if (trusted != nullptr) SSL_CTX_set1_cert_store(context.get(), trusted);
  SSL_CTX_set_cert_verify_callback(context.get(), VerifyCopies, nullptr);
  SSL_CTX_set_verify(context.get(), insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nullptr);
  return context;
}

// For clients with the system's roots and without a certificate, which differ in nothing that a
// context holds. There may be thousands, one for each scraped target, and a context takes 14 KiB.
std::shared_ptr<SSL_CTX> ContextOfSystemRoots(bool insecure) {
  static const auto& contexts = *new std::array<std::shared_ptr<SSL_CTX>, 2>{
      MakeContext(nullptr, false), MakeContext(nullptr, true)};
  return contexts[insecure ? 1 : 0];
}

bool HasIdentity(const TransportOptions& options) {
  return !options.client_cert_file.empty() || !options.client_cert_data.empty() ||
         !options.client_key_file.empty() || !options.client_key_data.empty();
}

// The client's certificate and key.
absl::Status AddIdentity(const TransportOptions& options, SSL_CTX* context) {
  ASSIGN_OR_RETURN(const Pem certificate, ReadPem(options.client_cert_file,
                                                  options.client_cert_data, "client certificate"));
  ASSIGN_OR_RETURN(const Pem key,
                   ReadPem(options.client_key_file, options.client_key_data, "client key"));
  if (certificate.source.empty() != key.source.empty()) {
    return absl::InvalidArgumentError("a client certificate and its key must be given together");
  }
  ASSIGN_OR_RETURN(const auto chain,  // own certificate first
                   Of(certificate, ReadPemCertificates(certificate.text)));
  ASSIGN_OR_RETURN(const PkeyPtr private_key, Of(key, ReadPemKey(key.text)));
  if (X509_check_private_key(chain[0].get(), private_key.get()) != 1) {
    ERR_clear_error();
    return absl::InvalidArgumentError(
        absl::StrCat(key.source, " is not the key of the certificate in ", certificate.source));
  }
  SSL_CTX_use_certificate(context, chain[0].get());
  for (size_t i = 1; i < chain.size(); ++i) SSL_CTX_add1_chain_cert(context, chain[i].get());
  SSL_CTX_use_PrivateKey(context, private_key.get());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<const TlsClient>> TlsClient::Load(const TransportOptions& options) {
  const std::shared_ptr<TlsClient> client(new TlsClient()), bare(new TlsClient());
  ASSIGN_OR_RETURN(const X509StorePtr trusted, TrustedBy(options));
  const auto make_context = [&]() -> std::shared_ptr<SSL_CTX> {
    return MakeContext(trusted.get(), options.insecure_skip_verify);
  };
  const std::shared_ptr<SSL_CTX> context =
      trusted == nullptr ? ContextOfSystemRoots(options.insecure_skip_verify) : make_context();
  for (TlsClient* one : {client.get(), bare.get()}) {
    one->insecure_ = options.insecure_skip_verify;
    one->system_roots_ = trusted == nullptr;
    one->context_ = context;
  }
  if (HasIdentity(options)) {
    client->context_ = make_context();
    RETURN_IF_ERROR(AddIdentity(options, client->context_.get()));
  }
  client->server_name_ = options.server_name;
  client->without_identity_ = bare;
  return client;
}

ssl_st* TlsClient::NewConnection(const std::string& name) const {
  SSL* const ssl = SSL_new(context_.get());
  if (ssl == nullptr) return nullptr;
  const std::string& expected = server_name_.empty() ? name : server_name_;
  const bool address = IpAddress::Parse(expected).has_value();
  if (!address) SSL_set_tlsext_host_name(ssl, expected.c_str());
  if (insecure_) return ssl;
  if (system_roots_) SSL_set1_verify_cert_store(ssl, SystemRoots());
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
