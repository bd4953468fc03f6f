// One decision of the loop with all that it was made of, and what was done with it.
//
// Views of it: status, events, log, the ring behind `explain`, self-metrics, the shadow report, the
// advised metric, the kept state. Valid during the call that hands it out; copy what is kept.
#pragma once

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"
#include "scaler/stores/managed.h"
#include "scaler/triggers/activation.h"
#include "scaler/views/rest.h"

namespace flyball::scaler {

struct DecisionRecord {
  ManagedPtr managed;
  Mode mode = Mode::kShadow;
  // What was decided on: that of `managed`, and behind its metrics those of triggers. Null: that of
  // `managed` alone.
  const Autoscaler* decided_on = nullptr;
  const ScaleAnswer* scale = nullptr;
  const PodsAnswer* pods = nullptr;         // may be null
  absl::Span<const Reading> readings;       // one for each metric spec, in order; may be empty
  std::optional<absl::Time> newest_sample;  // of all readings
  const Activation* activation = nullptr;   // null without triggers
  const Decision* decision = nullptr;
  absl::Time time;                                 // wall time of the decision
  MonotonicTime monotonic = absl::ZeroDuration();  // and its monotonic time
  absl::Duration took;                             // reading and deciding
  // Wall - monotonic, that the times of what is remembered are of: the wall clock may have been set
  // since. nullopt: that of now.
  std::optional<absl::Duration> wall_offset = std::nullopt;
  bool scale_written = false;
  std::string scale_error;  // of a scale write that was tried
  bool status_written = false;
  bool unchanged = false;  // same inputs and same outcome as the last decision
};

class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  // From the deciding thread; must not block. Never at once for the same autoscaler.
  virtual void OnDecision(const DecisionRecord& record) = 0;
  // The autoscaler exists no more.
  virtual void OnForgotten(const AutoscalerKey& key) = 0;
  // Another replica decides it from now on.
  virtual void OnReleased(const AutoscalerKey& key) { OnForgotten(key); }
  // It came to rest: from now on each round of the share's group is a decision that is the last one
  // again, but for times, and is not told to OnDecision; `recommendation` is renewed by each.
  virtual void OnRest(const AutoscalerKey& key, int32_t recommendation, const RestShare& share) {
    (void)key, (void)recommendation, (void)share;
  }
  // Its rest is over; told before the group's next round. OnDecision follows.
  virtual void OnRestOver(const AutoscalerKey& key) { (void)key; }
  // One round of a group.
  virtual void OnRound(const RestRound& round) { (void)round; }
  // Another writer changed the stored status of an HPA that we shadow.
  virtual void OnForeignStatus(const ManagedPtr& managed) { (void)managed; }
};

}  // namespace flyball::scaler
