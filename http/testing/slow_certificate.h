// A certificate that takes OpenSSL a quarter of a second to read, in 461 bytes.
//
// It gives all numbers of its curve, whose prime c * 2^648 + 1 has 661 bits, and compresses the
// generator and the key. The square root that completes such a point takes about 648 * 648 / 2
// squarings.
#pragma once

#include <openssl/x509.h>

#include <string>

#include "absl/strings/escaping.h"
#include "base/openssl_ptr.h"

namespace flyball::http {

// In DER.
inline std::string SlowCertificate() {
  std::string der;
  absl::Base64Unescape(
      "MIIByTCCAbUCAQEwCgYIKoZIzj0EAwIwADAeFw0yNjAxMDEwMDAwMDBaFw0zNjAxMDEwMDAwMDBaMAAwggF+MIIB"
      "IwYHKoZIzj0CATCCARYCAQEwXgYHKoZIzj0BAQJTERkAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAEwWAQBAARTDyygOxTym1eb2Zo5"
      "Gdp6s4yTKtPfz/VZIr1ys3Wwf1ngJXjMlkFp5RHmVw9o/BrHn2F8fA8s3+cmYQh0Car4H39kt92VfLag64vO/6I9"
      "gV4gtc8EVAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIBAwNVAAIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAADAKBggqhkjOPQQDAgMCAAA=",
      &der);
  return der;
}

// It is not read twice in a process.
inline X509* DecodedSlowCertificate() {
  static X509* const decoded = [] {
    const std::string der = SlowCertificate();
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    return d2i_X509(nullptr, &at, static_cast<long>(der.size()));
  }();
  return decoded;
}

}  // namespace flyball::http
