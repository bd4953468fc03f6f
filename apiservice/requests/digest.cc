#include "apiservice/requests/digest.h"

#include <openssl/evp.h>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace flyball::apiservice {
namespace {

// Finding the algorithm and making a state takes longer than a short digest: both are kept.
struct Hasher {
  Hasher() : algorithm(EVP_MD_fetch(nullptr, "SHA256", nullptr)), state(EVP_MD_CTX_new()) {}
  ~Hasher() {
    EVP_MD_CTX_free(state);
    EVP_MD_free(algorithm);
  }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  EVP_MD* const algorithm;
  EVP_MD_CTX* const state;
};

}  // namespace

std::string Sha256(absl::string_view bytes) {
  thread_local const Hasher hasher;
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_DigestInit_ex2(hasher.state, hasher.algorithm, nullptr);
  EVP_DigestUpdate(hasher.state, bytes.data(), bytes.size());
  EVP_DigestFinal_ex(hasher.state, digest, &length);
  return std::string(reinterpret_cast<const char*>(digest), length);
}

std::string Sha256Hex(absl::string_view bytes) {
  return absl::AsciiStrToUpper(absl::BytesToHexString(Sha256(bytes)));
}

}  // namespace flyball::apiservice
