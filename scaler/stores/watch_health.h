// How well one watch works: whether its first list has arrived, since when it has been failing, and
// whether it may still have to catch up.
//
// After a failure, or a time without an open stream, the server first reports what happened in the
// meantime, and does not say when that is complete. So the watch still counts as failing until its
// stream was open and silent for a second, or open for ten seconds if it is never silent.
//
// Where each namespace has watches of its own, an autoscaler depends only on those of its
// namespace: a namespace that is deleted, or that we may no longer read, must not stop the others.
//
// Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"

namespace flyball::scaler {

// How long the data of a broken watch is used; after that it counts as unknown.
inline constexpr absl::Duration kStaleAfter = absl::Seconds(60);

class WatchHealth {
 public:
  // `what` names the objects in messages, as in "pods". The watch covers `ns` ("": all namespaces).
  // The clock outlives this object.
  WatchHealth(absl::string_view what, std::string ns, Clock& clock);

  // To be called by the watch's handler from its methods of the same names.
  void Listed();
  void StatusChanged(const absl::Status& status);
  void Opening();
  void Opened();
  void Flushed();

  const std::string& ns() const { return ns_; }
  bool Covers(absl::string_view ns) const { return ns_.empty() || ns_ == ns; }
  // Whether the first list has arrived and the watch works. Costs the load of one flag.
  bool fine() const { return fine_.load(std::memory_order_acquire); }
  // "" while it works and has caught up; else what is wrong with it.
  std::string Failure() const;
  // "" while its data may be used; else why not: the first list is missing, or the watch has been
  // failing for longer than kStaleAfter.
  std::string Unusable() const;
  // OK once the first list has arrived, also if the watch fails then; this is for readiness checks.
  absl::Status Ready() const;
  // Whether the first list has neither arrived nor failed.
  bool Waits() const;

 private:
  // Since when the stream has been open after a time in which the data could not be relied on.
  struct CatchingUp {
    MonotonicTime since;
    MonotonicTime heard;  // time of the last event
  };

  void CatchUp() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Update() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    fine_.store(listed_ && !failing_since_.has_value() && !opening_since_.has_value() &&
                    !catching_up_.has_value(),
                std::memory_order_release);
  }

  const std::string ns_;
  const std::string what_;
  Clock& clock_;
  mutable absl::Mutex mutex_;
  bool listed_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<MonotonicTime> failing_since_ ABSL_GUARDED_BY(mutex_);
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  bool said_failing_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<MonotonicTime> opening_since_ ABSL_GUARDED_BY(mutex_);
  // It ends by time alone, which is noticed at the next call.
  mutable std::optional<CatchingUp> catching_up_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<bool> fine_ = false;
};

// The first result of `ask` (Failure, Unusable or Ready) that is not empty or OK, over several
// watches, each of which is a pointer to something with a health(). With `ns`, only the watches
// that cover this namespace are asked.
template <typename Watches, typename Problem>
Problem FirstProblem(const Watches& watches, Problem (WatchHealth::*ask)() const,
                     std::optional<absl::string_view> ns = std::nullopt) {
  for (const auto& watch : watches) {
    if (ns.has_value() && !watch->health().Covers(*ns)) continue;
    if (Problem problem = (watch->health().*ask)(); problem != Problem()) return problem;
  }
  return Problem();
}

// Whether one of the watches has a first list that neither arrived nor failed.
template <typename Watches>
bool AnyWaits(const Watches& watches) {
  return std::any_of(watches.begin(), watches.end(),
                     [](const auto& watch) { return watch->health().Waits(); });
}

}  // namespace flyball::scaler
