// Limits the rate of writes to the API server, urgent ones first.
//
// Thread-safe. It is a token bucket: `per_second` tokens are added each second, up to `burst`; it
// begins full. Waiting callers are served by priority, then in the order in which they came; but
// every fourth token goes to the least urgent ones, so that they too continue if writes of scales
// would use all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/clock.h"

namespace flyball::kube {

enum class Priority { kScaleWrite, kStatusWrite };

class RequestBudget {
 public:
  // A rate that is not above zero is no limit at all; a burst is at least one.
  RequestBudget(Clock& clock, double per_second, int burst);

  // Takes one token, waiting for it until `deadline`; false: there was none in time, or Shutdown
  // was called. With a deadline in the past, false means that there is no token now, or that a
  // caller of the same or higher priority is waiting.
  bool Take(Priority priority, MonotonicTime deadline);
  // Wakes all waiting callers; from now on every Take is refused.
  void Shutdown();
  // How many wait in Take.
  size_t waiting() const;

 private:
  using Turn = std::pair<Priority, uint64_t>;

  // The waiting caller that gets the next token. There must be one.
  const Turn& Next() const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Takes a token if there is one.
  bool TakeNow(MonotonicTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Clock& clock_;
  const double per_second_;
  const int burst_;
  mutable absl::Mutex mutex_;
  double tokens_ ABSL_GUARDED_BY(mutex_);
  MonotonicTime filled_at_ ABSL_GUARDED_BY(mutex_);
  std::set<Turn> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace flyball::kube
