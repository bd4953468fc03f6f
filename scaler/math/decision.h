// Decision: what one reconcile concluded, with every step that led there.
//
// Plain values, filled by a Decider (reconcile.h). The status, the events, the log line, the
// explanation and the self-metrics are all views of it. A Decision object is reused for the next
// decision: its buffers keep their capacity, so that a decision that repeats the last one allocates
// nothing. Steps that were not taken are absent (std::nullopt, empty), never zero.
//
// Units:   amounts are int64 thousandths; utilisation is whole percent of the request; ratios have
//          no unit; replicas are int32.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/math/input.h"
#include "scaler/math/proposal.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// ---- proposals -> one -----------------------------------------------------------------------

// The largest valid proposal, or why none is valid.
struct Combination {
  size_t invalid = 0;            // how many proposals failed...
  size_t total = 0;              // ...of how many
  std::optional<size_t> winner;  // index in proposals; absent: none is valid
  int32_t replicas = 0;          // of the winner
  std::string error;             // aggregate error when some are invalid; may accompany a result
  bool spec_fault = false;       // `error` is from a proposal with Proposal::spec_fault
  bool gave_up = false;          // all invalid, or some invalid and the largest would shrink
};

// The pods that growth waits for, and how that limits the largest proposal (pending_capacity.h).
struct PendingHold {
  int32_t loading = 0;   // pods that were asked for and have never been ready
  int32_t settling = 0;  // pods that have been ready for less time than they took to become so
  int32_t before = 0;    // the largest proposal
  int32_t after = 0;     // at most the current count

  bool held() const { return after != before; }
};

// ---- one -> stabilised -> limited -> bounded ----------------------------------------------------

struct Stabilization {
  bool with_behavior = false;
  absl::Duration up_window, down_window;  // up_window: with behavior only
  int32_t before = 0;                     // the recommendation, which is recorded unchanged
  int32_t up_lowest = 0;                  // of the up window and `before`; with behavior only
  int32_t down_highest = 0;               // of the down window and `before`
  int32_t after = 0;
  // The past recommendation that held `before` back; absent when none did.
  std::optional<Recommendation> by;

  bool held() const { return after != before; }
};

// What one policy allows.
struct PolicyLimit {
  size_t policy = 0;               // index in the direction's policies
  int32_t added = 0, removed = 0;  // within its period
  int32_t period_start = 0;        // current - added + removed
  int32_t limit = 0;
};

enum class LimitedBy { kNothing, kScaleUpLimit, kScaleDownLimit, kMaxReplicas, kMinReplicas };

struct Limiting {
  LimitedBy by = LimitedBy::kNothing;
  bool up = false, down = false;  // directions whose rules were applied; without behavior both
  int32_t before = 0;
  std::optional<int32_t> rate_limit;  // as the rules allow; at least current up, at most it down
  bool disabled = false;              // selectPolicy Disabled
  std::vector<PolicyLimit> policies;  // in order; behavior only
  std::optional<size_t> policy;       // index in `policies` of the one that set rate_limit
  int32_t lowest = 0, highest = 0;    // allowed at the end (min/max and the rules together)
  int32_t after = 0;
};

// ---- the whole --------------------------------------------------------------------------------

enum class Outcome {
  kScaleUnknown,   // the target's scale could not be read
  kSwitchedOff,    // scaled to zero by hand
  kAboveMax,       // straight to max; no metric was read
  kBelowMin,       // straight to min; no metric was read
  kMetricsFailed,  // held, since unknown is not zero
  kDecided,        // the metrics were followed
};
inline constexpr const char* kOutcomeNames[] = {"ScaleUnknown", "SwitchedOff",   "AboveMax",
                                                "BelowMin",     "MetricsFailed", "Decided"};

struct Event {
  bool warning = false;
  std::string reason;
  std::string message;
};

enum class ActionLabel { kNone, kScaleUp, kScaleDown };
enum class ErrorLabel { kNone, kSpec, kInternal };
// As the metrics name them.
inline constexpr const char* kActionLabels[] = {"none", "scale_up", "scale_down"};
inline constexpr const char* kErrorLabels[] = {"none", "spec", "internal"};

// Labels of the controller's own metrics.
struct MetricLabels {
  std::string type;  // as the metric spec writes it
  ActionLabel action = ActionLabel::kNone;
  ErrorLabel error = ErrorLabel::kNone;
};
struct MonitorLabels {
  ActionLabel action = ActionLabel::kNone;
  ErrorLabel error = ErrorLabel::kNone;
  std::vector<MetricLabels> metrics;
};

struct Decision {
  Outcome outcome = Outcome::kScaleUnknown;
  absl::Time now;
  int32_t current = 0;  // spec.replicas of the scale as read
  int32_t status_replicas = 0;
  int32_t min_replicas = 0, max_replicas = 0;

  std::vector<Proposal> proposals;  // one for each metric spec, in order; empty: not computed
  bool metrics_computed = false;
  std::optional<Combination> combination;
  int32_t recommendation = 0;          // kDecided: max(0, combined), or less because of `pending`
  std::optional<PendingHold> pending;  // absent: growth need not wait for pods
  std::optional<Stabilization> stabilization;
  std::optional<Limiting> limiting;

  // If set, write `desired` to the scale, then call RecordScaleWrite.
  bool rescale = false;
  int32_t desired = 0;
  std::string rescale_reason;

  // The count that the target has once this is done.
  int32_t count() const { return rescale ? desired : current; }
  // The index of the proposal that decided.
  std::optional<size_t> winner() const { return combination ? combination->winner : std::nullopt; }

  AutoscalerStatus status;      // to be stored
  bool status_changed = false;  // differs from the stored one: write it, then RecordStatusWrite
  std::vector<Event> events;    // in order of happening
  std::string error;            // of the reconcile; may stand beside a rescale
  MonitorLabels monitor;
  ScalerState state;  // to be kept

  // The scale was written; set by RecordScaleWrite.
  bool rescaled = false;

  // What the proposals were made from. A later decision with the same basis keeps them.
  struct Basis {
    uint64_t spec_version = 0;
    uint64_t pods_version = 0;
    int32_t spec_replicas = 0;
    int32_t status_replicas = 0;
    bool pod_detail = false;
    absl::Time now;
    std::vector<uint64_t> reading_versions;
  };
  Basis basis;
  size_t proposals_kept = 0;  // how many were taken over from the last decision

  // Bookkeeping between the three steps of a reconcile.
  std::vector<Event> events_after_status;  // RecordStatusWrite appends them
  bool error_outlives_status = false;      // a failing status write does not replace `error`
};

}  // namespace flyball::scaler
