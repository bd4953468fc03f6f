// How one watch is doing: whether its first list is in, and since when it has been failing.
//
// Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::scaler {

// What a broken watch knew is used for so long; then it is unknown.
inline constexpr absl::Duration kStaleAfter = absl::Seconds(60);

class WatchHealth {
 public:
  // `what` names the objects in messages: "pods". The clock outlives it.
  WatchHealth(std::string what, Clock& clock) : what_(std::move(what)), clock_(clock) {}

  void Listed();
  void StatusChanged(const absl::Status& status);

  bool listed() const;
  // "" while what is known may be used; else why not: the first list is missing, or the watch has
  // been failing for longer than kStaleAfter.
  std::string Unusable() const;
  // The same for Ready: only the first list counts.
  absl::Status Ready() const;

 private:
  const std::string what_;
  Clock& clock_;
  mutable absl::Mutex mutex_;
  bool listed_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<MonotonicTime> failing_since_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace flyball::scaler
