// Finds the user of a bearer token: by a static file, then by TokenReview, with a short cache.
//
// Thread-safe. Tokens are kept as keyed hashes only. Equal tokens in flight share one review. A
// review that failed, or whose status carries an error, is not remembered. Limits: 8192 tokens and
// 4 MiB of users are kept; a token of more than 16 KiB is refused. `max_waiting` requests wait for
// a review; as anybody can invent tokens, each origin must leave as many places free as it takes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apiservice/auth/review_client.h"
#include "apiservice/auth/user.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
#include "base/single_flight.h"
#include "base/snapshot.h"
#include "http/server/event_workers.h"

namespace flyball::apiservice {

// Hash of a token → user.
using StaticTokens = absl::flat_hash_map<std::string, UserPtr>;

class TokenAuthenticator {
 public:
  // `reviews` may be nullptr: only static tokens then. Both outlive the object.
  TokenAuthenticator(ReviewClient* reviews, Clock* clock, absl::Duration ttl, int max_waiting);

  // Whether there is anything that can recognise a token.
  bool enabled() const { return reviews_ != nullptr || static_tokens_.Get() != nullptr; }

  // Lines `token,user,uid[,"group,group"]`. kInvalidArgument names the line; earlier tokens stay.
  absl::Status SetStaticTokens(absl::string_view csv);

  // `origin`: HttpRequest::origin. kUnauthenticated: the token is not valid, or could not be
  // reviewed. kResourceExhausted: too many requests wait for a review.
  absl::StatusOr<UserPtr> Authenticate(absl::string_view token, uint64_t origin);

 private:
  using Result = absl::StatusOr<UserPtr>;

  std::string Hash(absl::string_view token) const;
  // Asks the API server. `hash`: the key of the remembered answer, if it may be remembered.
  Result Review(absl::string_view token, const std::string& hash);

  ReviewClient* const reviews_;
  Clock* const clock_;
  const absl::Duration ttl_;
  const std::string secret_;  // of this process
  Snapshot<StaticTokens> static_tokens_;
  ExpiringCache<Result> cache_;
  SingleFlight<UserPtr, http::EventWorkers::Waiting> flights_;
};

}  // namespace flyball::apiservice
