#include "http/peer_keys.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>

#include "http/certificate_keys.h"

namespace flyball::http {
namespace {

// A context's default is 100 KiB. An idle connection keeps what was shown, and each byte of small
// certificates takes up to 30 in memory, of a name of two bytes up to 95.
constexpr long kMaxHandshakeBytes = 16 << 10;

// The number under which OpenSSL's queue of errors knows our reasons.
int ErrorLibrary() {
  static const int library = [] {
    const auto code = [](KeyFlaw flaw) { return static_cast<unsigned long>(flaw); };
    static ERR_STRING_DATA reasons[] = {
        {code(KeyFlaw::kUnreadable), "a key that is not accepted: it can't be read"},
        {code(KeyFlaw::kKind), "a key that is not accepted: neither RSA, ECDSA nor Ed25519"},
        {code(KeyFlaw::kCurve),
         "a key that is not accepted: ECDSA on another curve than P-224, "
         "P-256, P-384 and P-521"},
        {code(KeyFlaw::kPoint), "a key that is not accepted: ECDSA with a compressed point"},
        {code(KeyFlaw::kModulus), "a key that is not accepted: RSA of more than 8192 bits"},
        {code(KeyFlaw::kExponent),
         "a key that is not accepted: RSA with an exponent of more than 31 bits"},
        {0, nullptr},
    };
    const int number = ERR_get_next_error_library();
    ERR_load_strings(number, reasons);
    return number;
  }();
  return library;
}

// OpenSSL calls this with each whole message of a handshake before it reads it, and has no place to
// refuse one: the next callback comes when all keys of the certificates are decoded. So a message
// that is refused is spoilt, and OpenSSL ends the handshake at its first byte: that begins a length
// which is longer then than the message, or in TLS 1.3 is one that has to be zero.
void OnMessage(int is_sent, int version, int content, const void* message, size_t size,
               SSL* /*ssl*/, void* /*argument*/) {
  constexpr size_t kHeadBytes = 4;                // the type and the length
  constexpr uint8_t kCompressedCertificate = 25;  // of RFC 8879, which is not offered
  if (is_sent != 0 || content != SSL3_RT_HANDSHAKE || size <= kHeadBytes) return;
  // The message lies in a buffer of OpenSSL's own, which is constant only to callbacks.
  auto* const bytes = static_cast<uint8_t*>(const_cast<void*>(message));
  KeyFlaw flaw = KeyFlaw::kNone;
  if (bytes[0] == SSL3_MT_CERTIFICATE) {
    flaw = KeyFlawOfMessage(absl::string_view(static_cast<const char*>(message), size),
                            version >= TLS1_3_VERSION);
  } else if (bytes[0] == kCompressedCertificate) {
    flaw = KeyFlaw::kUnreadable;
  }
  if (flaw == KeyFlaw::kNone) return;
  const int library = ErrorLibrary();
  ERR_raise(library, static_cast<int>(flaw));
  bytes[kHeadBytes] = 0xff;
}

}  // namespace

void CheckPeerKeys(ssl_ctx_st* context) {
  // SSL_OP_NO_RX_CERTIFICATE_COMPRESSION of OpenSSL 3.2, where peers might otherwise send their
  // certificates in a form that can't be looked into. Older ones have neither.
  constexpr uint64_t kNoCompressedCertificates = uint64_t{1} << 33;
  SSL_CTX_set_options(context, kNoCompressedCertificates);
  SSL_CTX_set_msg_callback(context, OnMessage);
}

void CheckPeerKeysOfLaterContexts() {
  static const int once = SSL_CTX_get_ex_new_index(
      0, nullptr,
      [](void* context, void*, CRYPTO_EX_DATA*, int, long, void*) {
        SSL_CTX_set_max_cert_list(static_cast<SSL_CTX*>(context), kMaxHandshakeBytes);
        CheckPeerKeys(static_cast<SSL_CTX*>(context));
      },
      nullptr, nullptr);
  (void)once;
}

std::string RefusedPeerKey() {
  const unsigned long first = ERR_peek_error();  // NOLINT(google-runtime-int): OpenSSL's type
  const bool ours = first != 0 && ERR_GET_LIB(first) == ErrorLibrary();
  const char* const reason = ours ? ERR_reason_error_string(first) : nullptr;
  return reason == nullptr ? "" : reason;
}

}  // namespace flyball::http
