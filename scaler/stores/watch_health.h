// How well one watch works: whether its first list is in, since when it has been failing, and
// whether it may still have to tell what it has missed.
//
// After a failure, and after a time in which no stream was open, the server first tells what has
// happened meanwhile, and it does not say when that is all. So such a watch still counts as failing
// until it was open and silent for a second, or open for ten where there is never a silence.
//
// Where each namespace has watches of its own, an autoscaler depends on those of its namespace
// alone: one that is gone, or that we may not read any more, must not stop the others.
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
  // `what` names the objects in messages: "pods". The watch is of those of `ns` ("": of all). The
  // clock outlives it.
  WatchHealth(absl::string_view what, std::string ns, Clock& clock);

  // To be called by the watch's handler, when the same is told to it.
  void Listed();
  void StatusChanged(const absl::Status& status);
  void Opening();
  void Opened();
  void Flushed();

  const std::string& ns() const { return ns_; }
  bool Covers(absl::string_view ns) const { return ns_.empty() || ns_ == ns; }
  // Whether the first list is in and the watch works. Costs the load of one flag.
  bool fine() const { return fine_.load(std::memory_order_acquire); }
  // "" while it works and has told all; else what is wrong with it.
  std::string Failure() const;
  // "" while what is known may be used; else why not: the first list is missing, or the watch has
  // been failing for longer than kStaleAfter.
  std::string Unusable() const;
  // OK once the first list is in, also while the watch fails; this is for readiness checks.
  absl::Status Ready() const;
  // Whether the first list is missing and has not failed either.
  bool Waits() const;

 private:
  // Since when it has been open after it was not to be relied on.
  struct CatchingUp {
    MonotonicTime since;
    MonotonicTime heard;  // when it last told something
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
  // Time alone ends it, which is noticed when somebody asks.
  mutable std::optional<CatchingUp> catching_up_ ABSL_GUARDED_BY(mutex_);
  mutable std::atomic<bool> fine_ = false;
};

// The first result of `ask` (Failure, Unusable or Ready) that is not empty or OK, over several
// watches, each of which is a pointer to something with a health(); with `ns` over those alone that
// cover this namespace.
template <typename Watches, typename Problem>
Problem FirstProblem(const Watches& watches, Problem (WatchHealth::*ask)() const,
                     std::optional<absl::string_view> ns = std::nullopt) {
  for (const auto& watch : watches) {
    if (ns.has_value() && !watch->health().Covers(*ns)) continue;
    if (Problem problem = (watch->health().*ask)(); problem != Problem()) return problem;
  }
  return Problem();
}

// Whether some of the watches is still waited for.
template <typename Watches>
bool AnyWaits(const Watches& watches) {
  return std::any_of(watches.begin(), watches.end(),
                     [](const auto& watch) { return watch->health().Waits(); });
}

}  // namespace flyball::scaler
