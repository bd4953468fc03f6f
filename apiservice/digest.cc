#include "apiservice/digest.h"

#include <openssl/evp.h>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"

namespace flyball::apiservice {

std::string Sha256Hex(absl::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr);
  return absl::AsciiStrToUpper(
      absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), length)));
}

}  // namespace flyball::apiservice
