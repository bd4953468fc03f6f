// Posts reviews (TokenReview, SubjectAccessReview) to the Kubernetes API, with its retries.
//
// Thread-safe. Source: k8s.io/apiserver 0.34 util/webhook: five tries, 500 ms × 1.5ⁿ with 20 %
// jitter, only after 429, 500, 504 or a Retry-After; ten seconds in all.
#pragma once

#include <array>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/histogram.h"
#include "http/client/transport.h"

namespace flyball::apiservice {

// Upper bounds in seconds of apiserver_delegated_authn_request_duration_seconds and its authz twin.
inline constexpr std::array<double, 8> kReviewBounds = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10};

class ReviewClient {
 public:
  // The duration of each call, in seconds.
  struct Durations {
    Histogram<kReviewBounds.size()> answered{kReviewBounds};  // 2xx
    Histogram<kReviewBounds.size()> refused{kReviewBounds};   // other codes
    Histogram<kReviewBounds.size()> failed{kReviewBounds};    // no answer
  };

  // Both outlive the client.
  ReviewClient(http::HttpTransport* transport, Clock* clock,
               absl::Duration first_wait = absl::Milliseconds(500));

  // The body of a 2xx answer. Any error means that the question was not answered.
  absl::StatusOr<std::string> Post(absl::string_view path, std::string body);

  // Ends waits between tries.
  void Stop();

  const Durations& durations() const { return durations_; }

 private:
  http::HttpTransport* const transport_;
  Clock* const clock_;
  const absl::Duration first_wait_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  Durations durations_;
};

}  // namespace flyball::apiservice
