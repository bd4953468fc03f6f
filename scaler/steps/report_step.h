// Reports a decision: offers the status, records the events and calls the observers.
//
// Thread-safe, but no two threads may work on one autoscaler. It never waits: statuses and events
// are sent in the background.
#pragma once

#include <vector>

#include "base/clock.h"
#include "kube/client/event_recorder.h"
#include "scaler/steps/tracked_autoscaler.h"
#include "scaler/views/decision_record.h"
#include "scaler/views/status_writer.h"

namespace flyball::scaler {

class ReportStep {
 public:
  struct Deps {
    kube::EventSink& hpa_events;
    kube::EventSink& own_events;
    StatusWriter& statuses;
    const Ownership& ownership;
    absl::Duration status_interval;
    std::vector<DecisionObserver*> observers;
  };

  explicit ReportStep(Deps deps) : deps_(std::move(deps)) {}

  // The last step of a cycle. A decision that was dropped (act_step.h) is only reported to the
  // observers. But if removals have been held for longer than it takes a watch to catch up, the
  // status goes on: it has the count that is kept, and AbleToScale says why unless only the front
  // waits.
  void Report(TrackedAutoscaler& tracked, const DecisionInput& input, const WriteOutcome& write,
              MonotonicTime now) const;

  // Says in the status and by an event why an Autoscaler (CRD) is not decided, once for each
  // version of the object. To be called at each of its slots while its spec is refused
  // (Managed::refused), unless it is in mode shadow.
  void Refused(TrackedAutoscaler& tracked, absl::Time wall, MonotonicTime now) const;

  // Records the event of a status write that failed.
  void StatusFailed(const StatusJob& job, const absl::Status& status) const;

 private:
  static bool IsHeldForLong(const WriteOutcome& write, MonotonicTime now, WrittenSoFar& written);
  // Returns whether there was a status to offer.
  bool OfferStatus(TrackedAutoscaler& tracked, MonotonicTime now) const;
  // Offers a status that is due at marks.due, and records its digests in the marks.
  void Offer(StatusJob job, uint64_t cared, uint64_t failure, bool urgent, MonotonicTime now,
             StatusMarks& marks) const;
  MonotonicTime StatusDue(const TrackedAutoscaler& tracked, bool at_once, MonotonicTime now) const;
  void SendEvents(const CycleInputs& inputs, const Decision& decision, MonotonicTime now) const;
  void Observe(const TrackedAutoscaler& tracked, const WriteOutcome& write, bool status_offered,
               MonotonicTime now) const;

  const Deps deps_;
};

}  // namespace flyball::scaler
