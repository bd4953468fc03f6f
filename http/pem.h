// Certificates and private keys of a PEM text: CA files, Secrets, ConfigMaps.
//
// Whoever wrote the text cannot make this process work for longer than its length explains: keys
// that are costly to decode are not decoded (certificate_keys.h), and none is decrypted. Nobody is
// asked for a pass phrase.
//
// Pure; thread-safe. Errors: kInvalidArgument, without a part of the text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/openssl_ptr.h"

namespace flyball::http {

// In their order. Those whose keys certificate_keys.h does not accept are left out, as Go's pools
// of certificates leave out what they cannot read; but those of RSA may have any length. An error
// if none is left.
absl::StatusOr<std::vector<X509Ptr>> ReadPemCertificates(absl::string_view pem);

// The first private key, of a kind that Go's TLS has: RSA, ECDSA on one of its curves, Ed25519.
absl::StatusOr<PkeyPtr> ReadPemKey(absl::string_view pem);

// As text; of a key without a pass phrase.
std::string PemOf(X509* certificate);
std::string PemOf(EVP_PKEY* key);

// The first two read and written: for a library that reads PEM itself.
absl::StatusOr<std::string> PlainPemCertificates(absl::string_view pem);
absl::StatusOr<std::string> PlainPemKey(absl::string_view pem);

// For OpenSSL, where it reads PEM itself: without a callback the terminal would be asked, and with
// an empty pass phrase a key would be decrypted in as many rounds as it asks for.
int NoPassPhrase(char*, int, int, void*);

}  // namespace flyball::http
