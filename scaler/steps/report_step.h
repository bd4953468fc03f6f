// Tells of a decision: offers the status, records the events and calls the observers.
//
// Thread-safe, but no two threads may work on one entry. It never waits: statuses and events are
// sent in the background.
#pragma once

#include <vector>

#include "base/clock.h"
#include "kube/client/event_recorder.h"
#include "scaler/steps/entry.h"
#include "scaler/views/decision_record.h"
#include "scaler/views/status_writer.h"

namespace flyball::scaler {

class ReportStep {
 public:
  struct Parts {
    kube::EventSink& hpa_events;
    kube::EventSink& own_events;
    StatusWriter& statuses;
    const Ownership& ownership;
    absl::Duration status_interval;
    std::vector<DecisionObserver*> observers;
  };

  explicit ReportStep(Parts parts) : parts_(std::move(parts)) {}

  // The last step of a decision that was carried out.
  void Report(Entry& entry, const DecisionInput& input, MonotonicTime now) const;
  // Tells the observers, and nobody else, of a decision that was dropped (act_step.h).
  void ReportDropped(Entry& entry, MonotonicTime now) const;

  // Records the event of a status write that failed.
  void StatusFailed(const StatusJob& job, const absl::Status& status) const;

 private:
  void OfferStatus(Entry& entry, MonotonicTime now) const;
  MonotonicTime StatusDue(const Entry& entry, bool fails, MonotonicTime now) const;
  void SendEvents(const Entry& entry, MonotonicTime now) const;
  void Observe(const Entry& entry, MonotonicTime now) const;

  const Parts parts_;
};

}  // namespace flyball::scaler
