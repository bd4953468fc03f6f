// How many writes a second may go to the API server, the urgent ones first.
//
// Thread-safe. A token bucket: `per_second` tokens come back each second, `burst` at most are kept;
// it begins full. Whoever waits is served by priority, then in the order of coming.
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

enum class Priority { kScaleWrite, kStatusWrite, kOther };

class RequestBudget {
 public:
  // A rate that is not above zero is no limit at all; a burst is at least one.
  RequestBudget(Clock& clock, double per_second, int burst);

  // Takes one token, waiting for it until `deadline`; false: there was none in time, or Shutdown.
  // With a deadline that has come: none is there now, or somebody waits who is as urgent or more.
  bool Take(Priority priority, MonotonicTime deadline);
  // Wakes and refuses all.
  void Shutdown();
  // How many wait in Take.
  size_t waiting() const;

 private:
  using Turn = std::pair<Priority, uint64_t>;

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
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace flyball::kube
