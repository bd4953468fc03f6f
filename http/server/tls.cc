#include "http/server/tls.h"

#include <openssl/x509v3.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/openssl_ptr.h"
#include "base/status_macros.h"
#include "http/peer_keys.h"
#include "http/pem.h"
#include "http/server/self_signed.h"

namespace flyball::http {
namespace {

struct SniContext {
  std::vector<std::string> names;  // lower case, `*.suffix` allowed
  SslCtxPtr context;
};

struct CipherName {
  absl::string_view go;
  absl::string_view openssl;
};

// TLS 1.3 names are the same in both.
constexpr CipherName kCiphers[] = {
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"},
};

absl::StatusOr<int> MinVersion(absl::string_view name) {
  if (name.empty() || name == "VersionTLS12") return TLS1_2_VERSION;
  if (name == "VersionTLS13") return TLS1_3_VERSION;
  if (name == "VersionTLS11") return TLS1_1_VERSION;
  if (name == "VersionTLS10") return TLS1_VERSION;
  return absl::InvalidArgumentError(
      absl::StrCat("--tls-min-version \"", name,
                   "\": expected VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13"));
}

int SelectHttp11(SSL*, const unsigned char** out, unsigned char* length, const unsigned char* in,
                 unsigned in_length, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* selected = nullptr;
  const int result =
      SSL_select_next_proto(&selected, length, kHttp11, sizeof(kHttp11) - 1, in, in_length);
  *out = selected;
  // A peer that offers only other protocols is served all the same, as by a Go server without h2.
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// No chain is verified during the handshake: ca_bundle.h does that for each request.
int AcceptAnyPeer(X509_STORE_CTX*, void*) { return 1; }

// Limit for all certificates of a client, which are decoded before anything is known of the peer.
constexpr int kMaxPeerCertificateBytes = 16 << 10;

// Refuses a ClientHello of which OpenSSL would keep far more than any client needs, for as long as
// the connection lives: each name of a CA or of an OCSP responder becomes objects of its own, which
// take up to 47 times the bytes that were sent.
int CheckHello(SSL* ssl, int* alert, void*) {
  constexpr uint64_t kMostBytes = 8 << 10;         // with post-quantum keys honest ones have 2 KiB
  constexpr size_t kMostBytesOfStatusRequest = 5;  // no responder is named
  const auto is_longer = [ssl](unsigned extension, size_t most) {
    const unsigned char* data = nullptr;
    size_t size = 0;
    return SSL_client_hello_get0_ext(ssl, extension, &data, &size) == 1 && size > most;
  };
  if (BIO_number_read(SSL_get_rbio(ssl)) <= kMostBytes &&
      !is_longer(TLSEXT_TYPE_status_request, kMostBytesOfStatusRequest) &&
      !is_longer(TLSEXT_TYPE_certificate_authorities, kMaxNamedAuthoritiesBytes)) {
    return SSL_CLIENT_HELLO_SUCCESS;
  }
  *alert = SSL_AD_HANDSHAKE_FAILURE;
  return SSL_CLIENT_HELLO_ERROR;
}

absl::StatusOr<SslCtxPtr> MakeContext(const TlsOptions& options, const std::string& cert_file,
                                      const std::string& key_file) {
  ASSIGN_OR_RETURN(const int min_version, MinVersion(options.min_version));
  ASSIGN_OR_RETURN(const CipherLists ciphers, CipherListsFromGo(options.cipher_suites));
  SslCtxPtr context(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return absl::InternalError(OpenSslError());
  SSL_CTX* ctx = context.get();
  SSL_CTX_set_min_proto_version(ctx, min_version);
  // OpenSSL 3 has the signatures of TLS 1.0 and 1.1 at level 0 only.
  if (min_version < TLS1_2_VERSION) SSL_CTX_set_security_level(ctx, 0);
  SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                               SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_num_tickets(ctx, 0);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                            SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx, AcceptAnyPeer, nullptr);
  SSL_CTX_set_max_cert_list(ctx, kMaxPeerCertificateBytes);
  CheckPeerKeys(ctx);
  SSL_CTX_set_client_hello_cb(ctx, CheckHello, nullptr);
  SSL_CTX_set_alpn_select_cb(ctx, SelectHttp11, nullptr);
  UseCurvesOnly(ctx);
  if (!ciphers.tls12.empty() && SSL_CTX_set_cipher_list(ctx, ciphers.tls12.c_str()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tls-cipher-suites: none can be used: ", OpenSslError()));
  }
  if (!ciphers.tls13.empty() && SSL_CTX_set_ciphersuites(ctx, ciphers.tls13.c_str()) != 1) {
    return absl::InvalidArgumentError(absl::StrCat("--tls-cipher-suites: ", OpenSslError()));
  }
  SSL_CTX_set_default_passwd_cb(ctx, NoPassPhrase);
  if (SSL_CTX_use_certificate_chain_file(ctx, cert_file.c_str()) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("certificate file ", cert_file, ": ", OpenSslError()));
  }
  if (SSL_CTX_use_PrivateKey_file(ctx, key_file.c_str(), SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(ctx) != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("key file ", key_file, " for ", cert_file, ": ", OpenSslError()));
  }
  return context;
}

// The DNS names of the certificate and, if it has none, its CN.
std::vector<std::string> NamesOf(X509* certificate) {
  std::vector<std::string> names;
  auto* alternatives = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives, i);
    if (name->type != GEN_DNS) continue;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  GENERAL_NAMES_free(alternatives);
  char common_name[256];
  if (names.empty() && X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                                 common_name, sizeof(common_name)) > 0) {
    names.emplace_back(common_name);
  }
  return names;
}

std::vector<std::string> FilesOf(const TlsOptions& options) {
  std::vector<std::string> files = {options.cert_file, options.key_file};
  for (const SniCertificate& sni : options.sni) {
    files.push_back(sni.cert_file);
    files.push_back(sni.key_file);
  }
  return files;
}

bool NameMatches(absl::string_view pattern, absl::string_view name) {
  if (pattern == name) return true;
  if (!absl::StartsWith(pattern, "*.")) return false;
  const size_t dot = name.find('.');
  return dot != absl::string_view::npos && dot > 0 && name.substr(dot) == pattern.substr(1);
}

}  // namespace

class TlsBundle {
 public:
  static absl::StatusOr<std::shared_ptr<const TlsBundle>> Load(const TlsOptions& options) {
    auto bundle = std::make_shared<TlsBundle>();
    ASSIGN_OR_RETURN(bundle->main_, MakeContext(options, options.cert_file, options.key_file));
    for (const SniCertificate& sni : options.sni) {
      SniContext entry;
      ASSIGN_OR_RETURN(entry.context, MakeContext(options, sni.cert_file, sni.key_file));
      entry.names =
          sni.names.empty() ? NamesOf(SSL_CTX_get0_certificate(entry.context.get())) : sni.names;
      for (std::string& name : entry.names) absl::AsciiStrToLower(&name);
      bundle->sni_.push_back(std::move(entry));
    }
    SSL_CTX_set_tlsext_servername_callback(bundle->main_.get(), &TlsBundle::ChooseByName);
    SSL_CTX_set_tlsext_servername_arg(bundle->main_.get(), bundle.get());
    return std::shared_ptr<const TlsBundle>(std::move(bundle));
  }

  SSL_CTX* main() const { return main_.get(); }

 private:
  static int ChooseByName(SSL* ssl, int*, void* self) {
    const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (name == nullptr) return SSL_TLSEXT_ERR_OK;
    const std::string lower = absl::AsciiStrToLower(name);
    for (const SniContext& entry : static_cast<const TlsBundle*>(self)->sni_) {
      for (const std::string& pattern : entry.names) {
        if (NameMatches(pattern, lower)) {
          SSL_set_SSL_CTX(ssl, entry.context.get());
          return SSL_TLSEXT_ERR_OK;
        }
      }
    }
    return SSL_TLSEXT_ERR_OK;
  }

  SslCtxPtr main_;
  std::vector<SniContext> sni_;
};

absl::StatusOr<CipherLists> CipherListsFromGo(const std::vector<std::string>& names) {
  CipherLists lists;
  for (const std::string& name : names) {
    if (absl::StartsWith(name, "TLS_AES_") || absl::StartsWith(name, "TLS_CHACHA20_")) {
      absl::StrAppend(&lists.tls13, lists.tls13.empty() ? "" : ":", name);
      continue;
    }
    absl::string_view found;
    for (const CipherName& cipher : kCiphers) {
      if (cipher.go == name) found = cipher.openssl;
    }
    if (found.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--tls-cipher-suites: unknown cipher suite \"", name, "\""));
    }
    absl::StrAppend(&lists.tls12, lists.tls12.empty() ? "" : ":", found);
  }
  return lists;
}

TlsCertificates::TlsCertificates(TlsOptions options)
    : options_(std::move(options)), first_look_(FilesOf(options_)) {}
TlsCertificates::~TlsCertificates() = default;

absl::StatusOr<std::unique_ptr<TlsCertificates>> TlsCertificates::Create(
    TlsOptions options, const std::string& bind_address) {
  if (options.cert_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError(
        "--tls-cert-file and --tls-private-key-file belong together; only one is given");
  }
  if (options.cert_file.empty()) {
    ASSIGN_OR_RETURN(const KeyPairFiles pair, EnsureSelfSigned(options.cert_dir, bind_address));
    options.cert_file = pair.cert_file;
    options.key_file = pair.key_file;
  }
  std::unique_ptr<TlsCertificates> certificates(new TlsCertificates(std::move(options)));
  RETURN_IF_ERROR(certificates->Reload());
  return certificates;
}

absl::Status TlsCertificates::Reload() {
  ASSIGN_OR_RETURN(std::shared_ptr<const TlsBundle> bundle, TlsBundle::Load(options_));
  bundle_.Set(std::move(bundle));
  return absl::OkStatus();
}

absl::Time TlsCertificates::not_after() const {
  const std::shared_ptr<const TlsBundle> bundle = bundle_.Get();
  return TimeOf(X509_get0_notAfter(SSL_CTX_get0_certificate(bundle->main())));
}

ssl_st* NewServerSsl(const TlsBundle& bundle) {
  SSL* ssl = SSL_new(bundle.main());
  if (ssl != nullptr) SSL_set_accept_state(ssl);
  return ssl;
}

}  // namespace flyball::http
