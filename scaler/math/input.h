// Everything that a decision depends on: settings, the scale as read, pods, readings, and what the
// autoscaler remembers.
//
// Plain values, filled by the callers of the math: the loop from a cluster, `decide` from files,
// the vectors from scenarios.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "scaler/math/math_config.h"
#include "scaler/math/pods.h"
#include "scaler/spec/autoscaler.h"

namespace flyball::scaler {

// The target's scale, or why it is not known.
struct ScaleAnswer {
  enum class Failure { kNone, kApiVersion, kMapping, kRead };
  Failure failure = Failure::kNone;
  std::string error;  // with a failure: its text

  int32_t spec_replicas = 0;
  int32_t status_replicas = 0;
  std::string selector;  // as the scale states it
};

// Autoscalers that select one of the same pods; more than one is ambiguous.
struct Rivals {
  static constexpr size_t kMaxNames = 100;

  std::vector<std::string> names;  // "ns/name", sorted: the first kMaxNames
  size_t total = 0;
};
using RivalsPtr = std::shared_ptr<const Rivals>;  // nullptr: there are none

// The pods behind the scale's selector, or why they are not known.
struct PodsAnswer {
  std::string selector_error;       // non-empty: the selector does not parse
  std::string list_error;           // non-empty: the pod cache cannot be read
  const PodTable* table = nullptr;  // not null when both errors are empty
  RivalsPtr rivals;                 // with this autoscaler if it selects one of the pods
  uint64_t version = 0;             // equal and not 0: the same pods as last time
};

// One pod's sample in the answer of a metrics API. There is at most one for each name, whether or
// not the pod is in the table: read_items.h keeps the last sample of a repeated name.
struct PodSample {
  int32_t row = kStranger;  // in the PodTable
  int64_t value_milli = 0;
  absl::Time timestamp;
  absl::Duration window;
};

// The current values of one metric spec: samples by pod, or amounts to be summed, or the reason why
// they are unknown.
struct Reading {
  // A count that is used in place of an unknown one, and until when.
  struct Instead {
    int32_t replicas = 0;
    absl::Time until = absl::InfiniteFuture();
    // Nothing failed: the metric's trigger tells of activity alone.
    bool activity_only = false;

    friend bool operator==(const Instead&, const Instead&) = default;
  };

  std::string error;                    // non-empty: nothing was read; text of the metrics client
  std::optional<Instead> instead = {};  // with `error`: proposed although nothing was read
  std::vector<PodSample> samples;       // Resource, ContainerResource, Pods
  std::vector<int64_t> amounts_milli;   // Object: exactly one; External: one or more
  std::optional<absl::Time> timestamp;  // of the first item
  // Equal and not 0: the same content as last time. Times count as content only where the readiness
  // of a pod depends on them.
  uint64_t version = 0;
};

struct Recommendation {
  int32_t replicas = 0;  // before stabilisation, limits and bounds
  absl::Time time;

  friend bool operator==(const Recommendation&, const Recommendation&) = default;
};

struct ScaleEvent {
  int32_t change = 0;  // how many replicas were added or removed; positive
  absl::Time time;
  bool outdated = false;  // may be overwritten by the next event

  friend bool operator==(const ScaleEvent&, const ScaleEvent&) = default;
};

// What an autoscaler remembers from one decision to the next. The math does not store it: the
// caller passes it in and takes the new one from the decision. The running scaler also saves it in
// the cluster (scaler/shards/state_store.h).
struct ScalerState {
  std::vector<Recommendation> recommendations;  // empty: nothing recorded yet
  std::vector<ScaleEvent> scale_ups;
  std::vector<ScaleEvent> scale_downs;
  // When the growth began whose pods are not all serving yet; used only by pending_capacity.h. It
  // is not saved: another owner that finds pending pods treats the time for growth as over.
  std::optional<absl::Time> growing_since = {};

  friend bool operator==(const ScalerState&, const ScalerState&) = default;
};

struct DecisionInput {
  const Autoscaler* autoscaler = nullptr;
  const AutoscalerStatus* status = nullptr;  // as stored; nullptr: autoscaler->status
  const ScaleAnswer* scale = nullptr;
  const PodsAnswer* pods = nullptr;    // may be null when ReadsMetrics (reconcile.h) is false
  absl::Span<const Reading> readings;  // one for each metric spec, in order; may be empty then too
  const MathConfig* config = nullptr;
  const ScalerState* state = nullptr;  // may be the state in the Decision to be filled
  absl::Time now;
  bool deleted = false;  // since it was read, as far as is known
  // Equal and not 0: the same spec and config as last time. If the versions of the pods and of a
  // reading are equal too, the proposal that the last Decision made from that reading is kept.
  uint64_t spec_version = 0;
};

}  // namespace flyball::scaler
