// One decision of the loop with all that it was made from, and what was done with it.
//
// Status, events, log, the entries behind `explain`, self-metrics, the shadow report, the advised
// metric and the saved state are all views of it. A record is valid only during the call that
// passes it: an observer copies what it keeps.
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
#include "scaler/views/steadiness.h"

namespace flyball::scaler {

struct DecisionRecord {
  ManagedPtr managed;
  Mode mode = Mode::kShadow;
  // What was decided on: the autoscaler of `managed` with the metrics of its triggers after its
  // own. Null: the autoscaler of `managed` itself.
  const Autoscaler* decided_on = nullptr;
  const ScaleAnswer* scale = nullptr;
  bool scale_is_old = false;                // the target may have another count by now
  const PodsAnswer* pods = nullptr;         // may be null
  absl::Span<const Reading> readings;       // one for each metric spec, in order; may be empty
  std::optional<absl::Time> newest_sample;  // of all readings
  const Activation* activation = nullptr;   // null without triggers
  const Decision* decision = nullptr;       // always set
  absl::Time time;                          // wall time of the decision
  MonotonicTime monotonic = absl::ZeroDuration();  // and its monotonic time
  absl::Duration took;                             // how long reading and deciding took
  // Wall time minus monotonic time, as it was when the times in the remembered state were taken:
  // the wall clock may have been set since. nullopt: as it is now.
  std::optional<absl::Duration> wall_offset = std::nullopt;
  bool scale_written = false;
  std::string scale_error;   // why the scale was not written, or what was decided is not advised
  bool front_waits = false;  // it was not, since the last pod waits for the front: no failure
  bool status_written = false;
  bool restored = true;    // false: decided without what an earlier owner remembered
  bool unchanged = false;  // same inputs and same outcome as the last decision
  // Each of its rounds renews what the decision recommended, as in OnSteady, but is no decision.
  // Null: only another decision does.
  SteadinessPtr prolonged;
};

class DecisionObserver {
 public:
  virtual ~DecisionObserver() = default;
  // Called from the thread that decides, which it must not block; never twice at once for the same
  // autoscaler.
  virtual void OnDecision(const DecisionRecord& record) = 0;
  // The autoscaler does not exist any more.
  virtual void OnForgotten(const AutoscalerKey& key) = 0;
  // Another replica decides it from now on.
  virtual void OnReleased(const AutoscalerKey& key) { OnForgotten(key); }
  // The autoscaler is steady from now on (steadiness.h). Each of its rounds counts as a decision
  // that repeats the last one at a later time and renews `recommendation`. OnDecision is not called
  // for rounds; when it is called again, the autoscaler is no longer steady.
  virtual void OnSteady(const AutoscalerKey& key, int32_t recommendation,
                        const SteadinessPtr& steadiness) {
    (void)key, (void)recommendation, (void)steadiness;
  }
  // Steady autoscalers had a round.
  virtual void OnRound(const RoundRecord& round) { (void)round; }
  // Another controller changed the stored status of an HPA on which we do not act.
  virtual void OnForeignStatus(const ManagedPtr& managed) { (void)managed; }
};

}  // namespace flyball::scaler
