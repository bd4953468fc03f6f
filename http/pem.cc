#include "http/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "http/certificate_keys.h"

namespace flyball::http {
namespace {

void FreeBytes(void* bytes) { OPENSSL_free(bytes); }

struct Block {
  std::string kind;
  std::string der;
};

// The next block that OpenSSL takes for `kind`; an empty one at the end.
Block NextBlock(BIO* text, const char* kind) {
  unsigned char* bytes = nullptr;
  char* name = nullptr;
  long size = 0;  // NOLINT(google-runtime-int): OpenSSL's type
  if (PEM_bytes_read_bio(&bytes, &size, &name, kind, text, NoPassPhrase, nullptr) != 1) return {};
  const std::unique_ptr<unsigned char, OpenSslDeleter<FreeBytes>> bytes_owner(bytes);
  const std::unique_ptr<char, OpenSslDeleter<FreeBytes>> name_owner(name);
  Block block{.kind = name,
              .der = std::string(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size))};
  OPENSSL_cleanse(bytes, static_cast<size_t>(size));
  return block;
}

const unsigned char* BytesOf(const std::string& der) {
  return reinterpret_cast<const unsigned char*>(der.data());
}

// Whether a certificate may be used, of an authority for example. To decode a long number of RSA
// costs no more than its bytes.
bool IsReadable(KeyFlaw flaw) {
  return flaw == KeyFlaw::kNone || flaw == KeyFlaw::kModulus || flaw == KeyFlaw::kExponent;
}

BioPtr Reading(absl::string_view pem) {
  return BioPtr(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

}  // namespace

absl::StatusOr<std::vector<X509Ptr>> ReadPemCertificates(absl::string_view pem) {
  const BioPtr text = Reading(pem);
  std::vector<X509Ptr> certificates;
  bool some = false;
  while (true) {
    const Block block = NextBlock(text.get(), PEM_STRING_X509);
    if (block.kind.empty()) break;
    some = true;
    if (!IsReadable(KeyFlawOf(block.der))) continue;
    const unsigned char* at = BytesOf(block.der);
    X509Ptr certificate(d2i_X509(nullptr, &at, static_cast<long>(block.der.size())));
    if (certificate != nullptr) certificates.push_back(std::move(certificate));
  }
  ERR_clear_error();  // the end of the text counts as an error there
  if (certificates.empty()) {
    return absl::InvalidArgumentError(some ? "holds no PEM certificate that can be read"
                                           : "holds no PEM certificate");
  }
  return certificates;
}

absl::StatusOr<PkeyPtr> ReadPemKey(absl::string_view pem) {
  Block block = NextBlock(Reading(pem).get(), PEM_STRING_EVP_PKEY);
  PkeyPtr key;
  if (const int type = TypeOfPrivateKey(block.kind, block.der); type != EVP_PKEY_NONE) {
    const unsigned char* at = BytesOf(block.der);
    key.reset(d2i_PrivateKey(type, nullptr, &at, static_cast<long>(block.der.size())));
  }
  OPENSSL_cleanse(block.der.data(), block.der.size());
  ERR_clear_error();
  if (key == nullptr) {
    return absl::InvalidArgumentError(
        "holds no PEM private key (RSA, ECDSA or Ed25519) without a pass phrase");
  }
  return key;
}

std::string PemOf(X509* certificate) {
  const BioPtr text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(text.get(), certificate);
  return TextOfBio(text.get());
}

std::string PemOf(EVP_PKEY* key) {
  const BioPtr text(BIO_new(BIO_s_secmem()));
  PEM_write_bio_PrivateKey(text.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return TextOfBio(text.get());
}

absl::StatusOr<std::string> PlainPemCertificates(absl::string_view pem) {
  ASSIGN_OR_RETURN(const std::vector<X509Ptr> certificates, ReadPemCertificates(pem));
  std::string plain;
  for (const X509Ptr& certificate : certificates) plain += PemOf(certificate.get());
  return plain;
}

absl::StatusOr<std::string> PlainPemKey(absl::string_view pem) {
  ASSIGN_OR_RETURN(const PkeyPtr key, ReadPemKey(pem));
  return PemOf(key.get());
}

int NoPassPhrase(char*, int, int, void*) { return -1; }

}  // namespace flyball::http
