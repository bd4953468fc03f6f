// Posts reviews (TokenReview, SubjectAccessReview) to the Kubernetes API, with its retries.
//
// Thread-safe. Source: k8s.io/apiserver 0.34 util/webhook: five tries, 500 ms × 1.5ⁿ with 20 %
// jitter, only after 429, 500, 504 or a Retry-After; ten seconds in all.
#pragma once

#include <atomic>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/transport.h"

namespace flyball::apiservice {

struct RetryPolicy {
  int tries = 5;
  absl::Duration first_wait = absl::Milliseconds(500);
  double factor = 1.5;
  double jitter = 0.2;
  absl::Duration limit = absl::Seconds(10);
};

class ReviewClient {
 public:
  struct Counters {
    std::atomic<uint64_t> answered{0};  // 2xx
    std::atomic<uint64_t> refused{0};   // other codes
    std::atomic<uint64_t> failed{0};    // no answer
    std::atomic<uint64_t> total_us{0};  // time of all of them
  };

  // Both outlive the client.
  ReviewClient(kube::HttpTransport* transport, Clock* clock, RetryPolicy policy = {});

  // The body of a 2xx answer. Any error means that the question was not answered.
  absl::StatusOr<std::string> Post(absl::string_view path, std::string body);

  // Ends waits between tries.
  void Stop();

  const Counters& counters() const { return counters_; }

 private:
  kube::HttpTransport* const transport_;
  Clock* const clock_;
  const RetryPolicy policy_;
  absl::Notification stopped_;
  std::atomic<bool> stopping_{false};
  Counters counters_;
};

}  // namespace flyball::apiservice
