// The second half of an autoscaler's cycle: makes a decision from what was read. It neither writes
// nor waits.
//
// Thread-safe where each thread has a DecideScratch of its own, but no two threads may work on one
// autoscaler.
#pragma once

#include <vector>

#include "base/clock.h"
#include "scaler/math/reconcile.h"
#include "scaler/steps/tracked_autoscaler.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/pod_store.h"

namespace flyball::scaler {

// Buffers that are reused from one decision to the next.
struct DecideScratch {
  Workspace workspace;
  Reading reading;
  std::vector<Recommendation> recommendations;
};

class DecideStep {
 public:
  struct Deps {
    const PodStore& pods;
    Ownership& ownership;
  };
  using Times = DecisionTimes;

  explicit DecideStep(const Deps& deps) : deps_(deps) {}

  // Updates the pods and all readings from the stores and the answers.
  void TakeReadings(CycleInputs& inputs, absl::Time now, DecideScratch& scratch) const;

  // Whether the inputs differ from those of the last decision, time aside.
  static bool InputsChanged(const CycleInputs& inputs, const LastDecision& last);

  // Whether there is a sample that the last decision did not have. The scale must have been read.
  static bool IsNews(const CycleInputs& inputs, const LastDecision& last);

  // To be called when everything was read again and nothing is news, so that no decision is made:
  // what the last one recommended, and the activity that it saw, lasted until `now`.
  static void Prolong(MonotonicTime now, LastDecision& last);

  // Makes tracked.decided the decision on tracked.inputs. If these are unchanged and time alone
  // cannot have changed the decision yet, the last decision stays and is marked as unchanged, which
  // costs next to nothing.
  void Decide(TrackedAutoscaler& tracked, const Times& now, DecideScratch& scratch) const;

  // What the decision was made from; valid until the autoscaler's next cycle.
  DecisionInput InputOf(const TrackedAutoscaler& tracked, absl::Time now) const;

 private:
  void TakePods(CycleInputs& inputs) const;
  void TakeMetric(CycleInputs& inputs, size_t index, bool pods_changed, absl::Time now,
                  DecideScratch& scratch) const;
  static void TakeTriggers(CycleInputs& inputs, absl::Time now);
  static void ApplyFallbacks(TrackedAutoscaler& tracked, const Times& now);
  static void ReadTriggers(TrackedAutoscaler& tracked, const Times& now, DecideScratch& scratch);
  void PrepareState(TrackedAutoscaler& tracked, const Times& now) const;
  // Restores what an earlier owner remembered, once and as soon as that is known. To be called
  // after the scale was read.
  void RestoreState(const CycleInputs& inputs, absl::Time now, LastDecision& last) const;

  const Deps deps_;
};

// Whether nothing in the decision was held back, limited or unknown, or had to wait for pods. If
// so, time alone does not change it before `until`, which is set.
bool Settled(const Decision& decision, absl::Time& until);

}  // namespace flyball::scaler
