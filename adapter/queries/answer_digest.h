// Makes the mark of an answer (metric_source.h) from its bytes.
//
// One thread at a time. A digest is a GMAC under a random key that never leaves this process: the
// probability that two different answers of n bytes have the same digest is n / 16 in 2^128, even
// if an attacker chooses them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "adapter/queries/metric_source.h"

typedef struct evp_mac_ctx_st EVP_MAC_CTX;

namespace flyball::adapter {

// Gathers short pieces, so that many are digested at once.
class AnswerDigest {
 public:
  AnswerDigest();
  ~AnswerDigest();
  AnswerDigest(const AnswerDigest&) = delete;

  void Add(absl::string_view piece);
  // nullopt: OpenSSL failed.
  std::optional<AnswerMark> End();

 private:
  void Flush();

  EVP_MAC_CTX* const mac_;
  bool good_;
  uint64_t size_ = 0;
  std::array<unsigned char, 8192> gathered_;
  size_t used_ = 0;
};

}  // namespace flyball::adapter
