// Bounds what requests together take of a shared resource, such as memory or places to run.
//
// Thread-safe. It outlives what was taken of it.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::http {

struct RoomLimits {
  size_t all = 0;
  size_t free = 0;                                          // amounts up to this need no room
  size_t max_waiting = std::numeric_limits<size_t>::max();  // held by all waiting callers
  // Counts elsewhere as well what was taken, until its result is gone; nullptr: nothing does.
  std::function<std::shared_ptr<const void>(size_t amount)> also = nullptr;
};

class Room {
 public:
  // The clock outlives it.
  Room(const RoomLimits& limits, Clock& clock) : limits_(limits), clock_(clock) {}

  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // Waits until there is room for so much, or for all if more is asked for. It is given back once
  // the last copy of the result is gone. `held`: what the caller keeps while it waits; `counted`:
  // what counts that elsewhere, which is let go for the wait.
  //   kDeadlineExceeded   there was no room in time
  //   kResourceExhausted  the waiting callers already hold too much; one alone may hold any amount
  absl::StatusOr<std::shared_ptr<const void>> Take(size_t amount, MonotonicTime deadline,
                                                   size_t held = 1,
                                                   std::shared_ptr<const void>* counted = nullptr);

 private:
  void Give(size_t amount);

  const RoomLimits limits_;
  Clock& clock_;
  absl::Mutex mutex_;
  size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace flyball::http
