#include "doctor/certificate.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/openssl_ptr.h"
#include "http/peer_keys.h"
#include "http/pem.h"

namespace flyball::doctor {
namespace {

absl::Status Failed(const std::string& where) {
  if (const std::string key = http::RefusedPeerKey(); !key.empty()) {
    ERR_clear_error();
    return absl::UnavailableError(absl::StrCat(where, ": its certificate has ", key));
  }
  const unsigned long error = ERR_peek_last_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  ERR_clear_error();
  return absl::UnavailableError(
      absl::StrCat(where, ": ", reason == nullptr ? "no answer in time" : reason));
}

}  // namespace

absl::StatusOr<std::string> ShownCertificates(const std::string& host, int port,
                                              const std::string& server_name,
                                              absl::Duration timeout) {
  ERR_clear_error();
  const bool bare_ipv6 = absl::StrContains(host, ':');
  const std::string where =
      absl::StrCat(bare_ipv6 ? "[" : "", host, bare_ipv6 ? "]" : "", ":", port);
  const SslCtxPtr context(SSL_CTX_new(TLS_client_method()));
  http::CheckPeerKeys(context.get());
  const BioPtr connection(BIO_new_ssl_connect(context.get()));
  if (connection == nullptr) return Failed(where);
  SSL* tls = nullptr;
  BIO_get_ssl(connection.get(), &tls);
  SSL_set_verify(tls, SSL_VERIFY_NONE, nullptr);
  SSL_set_tlsext_host_name(tls, server_name.c_str());
  BIO_set_conn_hostname(connection.get(), where.c_str());
  BIO_set_nbio(connection.get(), 1);
  const int seconds = std::max(1, static_cast<int>(absl::ToInt64Seconds(timeout)));
  constexpr int kLookAgainMs = 5;
  if (BIO_do_connect_retry(connection.get(), seconds, kLookAgainMs) != 1) return Failed(where);

  std::string shown;
  const STACK_OF(X509)* chain = SSL_get_peer_cert_chain(tls);
  for (int i = 0; i < sk_X509_num(chain); ++i) shown += http::PemOf(sk_X509_value(chain, i));
  if (shown.empty())
    return absl::UnavailableError(absl::StrCat(where, ": it presents no certificate"));
  return shown;
}

}  // namespace flyball::doctor
