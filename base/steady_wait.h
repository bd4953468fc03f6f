// Waiting for at most so long by the monotonic clock.
//
// absl's timed waits go by the wall clock: when it is set back by an hour, a wait of a second takes
// an hour longer. Whatever has to go on by itself (watches, leases, due times, deadlines) waits
// here.
//
// Thread-safe. One thread for the whole process, begun by the first wait, wakes those whose time is
// over.
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace flyball {

// As absl::Mutex::AwaitWithTimeout: until the condition holds or `timeout` is over; whether the
// condition holds in the end.
bool AwaitFor(absl::Mutex& mutex, const absl::Condition& condition, absl::Duration timeout)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

}  // namespace flyball
