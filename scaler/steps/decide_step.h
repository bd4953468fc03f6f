// The second half of a cycle: from what was read to a decision. No writes, no waiting.
//
// Thread-safe when each thread has its own DecideScratch; of one entry at a time.
#pragma once

#include <vector>

#include "base/clock.h"
#include "scaler/math/reconcile.h"
#include "scaler/steps/entry.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/pod_store.h"

namespace flyball::scaler {

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

  // Updates entry.pods, entry.readings and entry.trigger_readings.
  void TakeReadings(Entry& entry, const Times& now, DecideScratch& scratch) const;

  // Whether the last decision was made from other inputs, the time aside.
  static bool InputsChanged(const Entry& entry);

  // Whether something was sampled that the last decision did not know.
  static bool IsNews(const Entry& entry);

  // Fills entry.decision and entry.activation. Sets entry.unchanged when the same inputs cannot
  // give another decision yet: that costs next to nothing.
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

// Whether nothing was held back, limited or unknown, so that the passing of time alone changes
// nothing before `until`.
bool Settled(const Decision& decision, absl::Time& until);

}  // namespace flyball::scaler
