// The second half of an autoscaler's cycle: makes a decision of what was read. It neither writes
// nor waits.
//
// Thread-safe where each thread has a DecideScratch of its own, but no two threads may work on one
// entry.
#pragma once

#include <vector>

#include "base/clock.h"
#include "scaler/math/reconcile.h"
#include "scaler/steps/entry.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/pod_store.h"

namespace flyball::scaler {

// Buffers that one decision after the other uses.
struct DecideScratch {
  Workspace workspace;
  Reading reading;
  std::vector<Recommendation> recommendations;
};

class DecideStep {
 public:
  struct Parts {
    const PodStore& pods;
    Ownership& ownership;
    const MathConfig& config;
  };
  struct Times {
    absl::Duration WallOffset() const { return wall - absl::UnixEpoch() - monotonic; }

    absl::Time wall;
    MonotonicTime monotonic;
  };

  explicit DecideStep(const Parts& parts) : parts_(parts) {}

  // Updates entry.pods, entry.readings and entry.trigger_readings from the stores and the answers.
  void TakeReadings(Entry& entry, const Times& now, DecideScratch& scratch) const;

  // Whether the inputs differ from those of the last decision, the time aside.
  static bool InputsChanged(const Entry& entry);

  // Whether there is a sample that the last decision did not know.
  static bool IsNews(const Entry& entry);

  // Fills entry.decision and entry.activation. Where the inputs are the same and time alone cannot
  // have changed the decision yet, it sets entry.unchanged instead, which costs next to nothing.
  void Decide(Entry& entry, const Times& now, DecideScratch& scratch) const;

  // What the decision was made from; valid until the entry's next cycle.
  DecisionInput InputOf(const Entry& entry, absl::Time now) const;

 private:
  void TakePods(Entry& entry) const;
  void TakeMetric(Entry& entry, size_t index, const Times& now, DecideScratch& scratch) const;
  static void TakeTriggers(Entry& entry, absl::Time now);
  static void ReadTriggers(Entry& entry, DecideScratch& scratch);
  void PrepareState(Entry& entry, const Times& now) const;

  const Parts parts_;
};

// Whether nothing in the decision was held back, limited or unknown. Then the passing of time alone
// does not change it before `until`, which is set.
bool Settled(const Decision& decision, absl::Time& until);

}  // namespace flyball::scaler
