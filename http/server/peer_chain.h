// The certificates that a client presented, not verified yet: who it would be if they were good.
//
// One connection owns it and one thread at a time uses it. Verification is auth/ca_bundle.h's,
// which keeps its last results here, so that a kept-alive connection is verified again only when
// the CA bundle changed or a while has passed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

struct ssl_st;
struct x509_st;

namespace flyball::http {

class PeerChain {
 public:
  // nullptr: the client presented none.
  static std::shared_ptr<PeerChain> FromConnection(ssl_st* ssl);
  ~PeerChain();

  PeerChain(const PeerChain&) = delete;
  PeerChain& operator=(const PeerChain&) = delete;

  const std::string& common_name() const { return common_name_; }
  const std::vector<std::string>& organizations() const { return organizations_; }
  const std::string& sha256_hex() const { return sha256_hex_; }  // of the DER form
  absl::Time not_after() const { return not_after_; }
  size_t Footprint() const { return footprint_; }  // about what it takes in memory

  x509_st* leaf() const { return leaf_; }
  const std::vector<x509_st*>& intermediates() const { return intermediates_; }

  // A verification against one CA bundle, good until a time.
  struct Verdict {
    uint64_t bundle = 0;
    absl::Time until;
    absl::Status status;
  };
  absl::InlinedVector<Verdict, 2>& verdicts() { return verdicts_; }

 private:
  PeerChain() = default;

  x509_st* leaf_ = nullptr;
  std::vector<x509_st*> intermediates_;
  std::string common_name_;
  std::vector<std::string> organizations_;
  std::string sha256_hex_;
  absl::Time not_after_;
  size_t footprint_ = 0;
  absl::InlinedVector<Verdict, 2> verdicts_;
};

}  // namespace flyball::http
