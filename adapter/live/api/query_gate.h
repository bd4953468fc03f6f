// Limits how many queries run at the same time.
//
// Thread-safe. Outlives what was taken of it. A query that comes when all places are taken waits
// for one, as in Prometheus.
#pragma once

#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::live {

class QueryGate {
 public:
  // The clock outlives it.
  QueryGate(int places, int max_waiting, Clock& clock)
      : places_(places), max_waiting_(max_waiting), clock_(clock) {}

  // Takes a place, until the last copy of the result is gone. kDeadlineExceeded: no place became
  // free in time, or too many wait already.
  absl::StatusOr<std::shared_ptr<const void>> Enter(MonotonicTime deadline);

 private:
  void Leave();
  bool HasPlace() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return taken_ < places_; }

  const int places_;
  const int max_waiting_;
  Clock& clock_;
  absl::Mutex mutex_;
  int taken_ ABSL_GUARDED_BY(mutex_) = 0;
  int waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::live
