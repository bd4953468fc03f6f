// Decides whether a user may do something: SubjectAccessReview with a short cache.
//
// Thread-safe. Fails closed. Equal questions under way share one review. Limits: 8192 answers and 2
// MiB of them are kept, the least recently used ones are dropped first; questions of 10,000 bytes
// and more are not kept; `max_waiting` requests wait for a review, for one user at most as many as
// leave the same number of places free. All unauthenticated clients count as one user. Reviews of
// more than 2 KiB, as of a user in a hundred groups, take 4 MiB together, each counted six times;
// others wait, for 10 s at most.
#pragma once

#include <atomic>
#include <string>

#include "absl/status/statusor.h"
#include "apiservice/auth/options.h"
#include "apiservice/auth/review_client.h"
#include "apiservice/auth/user.h"
#include "apiservice/requests/router.h"
#include "base/clock.h"
#include "base/expiring_cache.h"
#include "base/single_flight.h"
#include "http/server/event_workers.h"
#include "http/server/room.h"

namespace flyball::apiservice {

struct Decision {
  bool allowed = false;
  bool denied = false;  // not allowed, and no other reviewer would have been asked
  std::string reason;   // the reviewer's, for a refusal
};

class Authorizer {
 public:
  struct Counters {
    // A review by RBAC alone ends a refusal without an opinion.
    std::atomic<uint64_t> allowed{0}, denied{0}, no_opinion{0}, error{0};
  };

  // `reviews` is needed for kReview only. Both outlive it.
  Authorizer(AuthorizationOptions options, ReviewClient* reviews, Clock* clock, int max_waiting);

  // An error means that the question could not be answered: 500. kResourceExhausted: too many
  // requests wait for a review.
  absl::StatusOr<Decision> Authorize(const User& user, const Attributes& attributes);

  const Counters& counters() const { return counters_; }

 private:
  bool AlwaysAllowed(const User& user, const Attributes& attributes) const;
  absl::StatusOr<Decision> Review(const User& user, const Attributes& attributes);
  // Asks the API server. `key`: the key of the remembered answer.
  absl::StatusOr<Decision> Post(const std::string& spec, bool remember, const std::string& key);

  const AuthorizationOptions options_;
  ReviewClient* const reviews_;
  Clock* const clock_;
  ExpiringCache<Decision> cache_;
  SingleFlight<Decision, http::EventWorkers::Waiting> flights_;
  http::Room memory_;  // of reviews under way
  Counters counters_;
};

// Pure: the sentence of a 403: `User "u" cannot list resource "pods" in API group "g" in the
// namespace "ns"`.
std::string ForbiddenSentence(const User& user, const Attributes& attributes);

}  // namespace flyball::apiservice
