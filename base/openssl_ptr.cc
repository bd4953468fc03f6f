#include "base/openssl_ptr.h"

#include <openssl/err.h>

namespace flyball {

std::string OpenSslError() {
  const unsigned long code = ERR_get_error();  // NOLINT(google-runtime-int): OpenSSL's type
  ERR_clear_error();
  if (code == 0) return "no further reason";
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

void UseCurvesOnly(SSL_CTX* context) {
  // The first list that this OpenSSL knows completely. The marks make a client offer a key of both
  // in its first message.
  static constexpr const char* kGroups[] = {"*X25519MLKEM768:*X25519:P-256:P-384:P-521",
                                            "X25519:P-256:P-384:P-521", "P-256:P-384:P-521"};
  for (const char* groups : kGroups) {
    if (SSL_CTX_set1_groups_list(context, groups) == 1) break;
  }
  SSL_CTX_set_cipher_list(context, "DEFAULT:!kDHE");
  ERR_clear_error();
}

absl::Time TimeOf(const ASN1_TIME* time) {
  std::tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

std::string TextOfBio(BIO* memory) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory, &text);
  return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
}

}  // namespace flyball
