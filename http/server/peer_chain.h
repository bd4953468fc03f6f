// The certificates that a client presented, not verified yet.
//
// One connection owns it and one thread at a time uses it. auth/ca_bundle.h verifies it and keeps
// its last results here, so that a kept-alive connection is verified again only if the CA bundle
// has changed or some time has passed.
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

struct PeerChain {
  // OpenSSL's memory for each byte of a peer's certificates, at most: many small certificates,
  // names or extensions, each in objects of its own.
  static constexpr size_t kMemoryForEachByte = 30;

  // nullptr: the client presented none.
  static std::shared_ptr<PeerChain> FromConnection(ssl_st* ssl);
  PeerChain() = default;
  ~PeerChain();

  PeerChain(const PeerChain&) = delete;
  PeerChain& operator=(const PeerChain&) = delete;

  // A verification against one CA bundle, valid from its time until another one. If the clock is
  // set back before its time, it does not count.
  struct Verdict {
    uint64_t bundle = 0;
    absl::Time since, until;
    absl::Status status;
  };

  x509_st* leaf = nullptr;  // its own, as the intermediates are
  std::vector<x509_st*> intermediates;
  std::string common_name;
  std::vector<std::string> organizations;
  std::string sha256_hex;  // of the DER form
  absl::Time not_after;
  size_t footprint = 0;  // about what it takes in memory
  absl::InlinedVector<Verdict, 2> verdicts;
};

}  // namespace flyball::http
