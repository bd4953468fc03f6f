// CA certificates that client certificates are verified against.
//
// Immutable, thread-safe; a new reading of the file or ConfigMap is a new bundle.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "http/server/peer_chain.h"

struct x509_store_st;

namespace flyball::apiservice {

class CaBundle {
 public:
  // kInvalidArgument: it contains no certificate.
  static absl::StatusOr<std::shared_ptr<const CaBundle>> FromPem(absl::string_view pem);

  // OK if the chain leads to this bundle, is within its dates and may be used by a client. The
  // result is kept with the chain for kVerdictLife, unless the clock is set back. The error is
  // kUnauthenticated with OpenSSL's reason.
  absl::Status Verify(http::PeerChain& chain, absl::Time now) const;

  static constexpr absl::Duration kVerdictLife = absl::Seconds(30);

 private:
  CaBundle();
  const uint64_t id_;  // never used twice
  const std::shared_ptr<x509_store_st> store_;
};

}  // namespace flyball::apiservice
