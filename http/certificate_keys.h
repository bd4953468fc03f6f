// Which keys certificates and PEM texts may have, found without decoding a key.
//
// Accepted are those that Go's TLS accepts: RSA of up to 8192 bits with an exponent of up to 31
// bits, ECDSA on P-224, P-256, P-384 or P-521 with an uncompressed point, and Ed25519. OpenSSL
// takes many more, some of which cost far more than their bytes: a point on a curve that the sender
// has chosen, and has compressed, takes a quarter of a second to decode and is sent in 461 bytes;
// with an exponent as long as its modulus each signature takes ten times as long.
//
// Pure; thread-safe.
#pragma once

#include "absl/strings/string_view.h"

namespace flyball::http {

enum class KeyFlaw {
  kNone,
  kUnreadable,  // also what only BER allows, such as a length that is not told at first
  kKind,
  kCurve,
  kPoint,
  kModulus,
  kExponent,
};

// Of a certificate in DER. Only what leads to its key is looked at.
KeyFlaw KeyFlawOf(absl::string_view certificate);

// The first flaw in a handshake message Certificate, with its head of type and length: kNone if it
// holds no certificate.
KeyFlaw KeyFlawOfMessage(absl::string_view message, bool tls13);

// The type of a private key as OpenSSL numbers it, such as EVP_PKEY_RSA, if the bytes of a PEM
// block of this kind ("PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY") are one of these keys and
// not encrypted; else EVP_PKEY_NONE. OpenSSL must be told the type: it would guess another.
int TypeOfPrivateKey(absl::string_view kind, absl::string_view der);

}  // namespace flyball::http
