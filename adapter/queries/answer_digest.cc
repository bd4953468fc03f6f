#include "adapter/queries/answer_digest.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/openssl_ptr.h"

namespace flyball::adapter {
namespace {

using MacPtr = std::unique_ptr<EVP_MAC_CTX, OpenSslDeleter<EVP_MAC_CTX_free>>;

// A MAC with the key of this process and no input yet; nullptr if OpenSSL fails.
MacPtr MakeMac() {
  // Lives as long as the process.
  EVP_MAC* const gmac = EVP_MAC_fetch(nullptr, "GMAC", nullptr);
  std::array<unsigned char, 16> key = {};
  if (gmac == nullptr || RAND_bytes(key.data(), static_cast<int>(key.size())) != 1) return nullptr;
  MacPtr mac(EVP_MAC_CTX_new(gmac));
  // One nonce for all digests is safe here: it would reveal the key only to somebody who sees the
  // digests.
  std::array<unsigned char, 12> nonce = {};
  char cipher[] = "AES-128-GCM";
  const OSSL_PARAM params[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, cipher, 0),
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, nonce.data(), nonce.size()),
      OSSL_PARAM_construct_end()};
  const bool good = mac != nullptr && EVP_MAC_init(mac.get(), key.data(), key.size(), params) == 1;
  return good ? std::move(mac) : nullptr;
}

// Copying a MAC costs a third of making one, which matters for small answers.
EVP_MAC_CTX* FreshMac() {
  static const EVP_MAC_CTX* const made = MakeMac().release();
  return made == nullptr ? nullptr : EVP_MAC_CTX_dup(made);
}

}  // namespace

AnswerDigest::AnswerDigest() : mac_(FreshMac()), good_(mac_ != nullptr) {}
AnswerDigest::~AnswerDigest() { EVP_MAC_CTX_free(mac_); }

void AnswerDigest::Add(absl::string_view piece) {
  size_ += piece.size();
  while (!piece.empty()) {
    const size_t count = std::min(piece.size(), gathered_.size() - used_);
    std::memcpy(gathered_.data() + used_, piece.data(), count);
    used_ += count;
    piece.remove_prefix(count);
    if (used_ == gathered_.size()) Flush();
  }
}

std::optional<AnswerMark> AnswerDigest::End() {
  Flush();
  AnswerMark mark{.digest = {}, .size = size_};
  size_t length = 0;
  good_ = good_ && EVP_MAC_final(mac_, mark.digest.data(), &length, mark.digest.size()) == 1 &&
          length == mark.digest.size();
  return good_ ? std::optional(mark) : std::nullopt;
}

void AnswerDigest::Flush() {
  good_ = good_ && EVP_MAC_update(mac_, gathered_.data(), used_) == 1;
  used_ = 0;
}

}  // namespace flyball::adapter
