// Turns a wanted count into the one that is applied: bounds, scaling to zero, and whether pods or
// activators receive the requests meanwhile. It is one step of a controller, as a function of what
// the controller sees.
//
// Pure: time is an argument, and the one question that has to be asked during a step, whether the
// activator is reachable in front of the pods, is a callback. Not thread-safe; one status for each
// target.
//
// Source: Knative Serving v0.51.0 pkg/reconciler/autoscaling/kpa (kpa.go, scaler.go) and
//         pkg/apis/autoscaling/v1alpha1/pa_lifecycle.go; knative.dev/pkg apis/condition_set.go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "scaler/spec/request_settings.h"

namespace flyball::scaler {

enum class ConditionState { kUnknown, kTrue, kFalse };

// What receives the requests: the pods (kServe), or the activators in front of them (kProxy).
enum class ServeMode { kProxy, kServe };

// The state of the service in front, as the cluster reports it. StepRevision sets the mode.
struct FrontService {
  bool exists = false;  // it exists and has names
  ServeMode mode = ServeMode::kProxy;
  int32_t activators = 0;
  bool ready = false;                          // it has endpoints that can answer
  std::optional<absl::Time> activators_since;  // set while requests go through activators
};

struct RevisionStatus {
  ConditionState active = ConditionState::kUnknown;
  std::string reason;                 // of active
  std::optional<absl::Time> changed;  // when `active` or `reason` changed, in whole seconds
  bool initialized = false;           // its first pods have been ready once; never reset
  bool front_ready = false;
  std::optional<int32_t> wanted;  // as it was applied
  int32_t ready_pods = 0;

  ConditionState ready() const;
};

struct RevisionInput {
  absl::Time now;
  int32_t wanted = -1;  // from the decider; -1: not known yet
  int32_t excess_burst = 0;
  int32_t ready_pods = 0;
  int32_t replicas = 0;  // the count that was last applied to the target
};

// What is to be done after a step.
struct RevisionActions {
  std::optional<int32_t> replicas;         // the count to apply to the target
  std::vector<absl::Duration> look_again;  // take another step after each of these
  int probes = 0;                          // how often the activator was asked
  bool probe_on = false;  // ask each second for 45 s, and step 1 s after the answer
};

// Takes one step. `activator_answers` is called at most once. Changes `status`, and the mode and
// the number of activators of `front`.
RevisionActions StepRevision(const RequestSettings& settings, const RevisionInput& input,
                             absl::FunctionRef<bool()> activator_answers, FrontService& front,
                             RevisionStatus& status);

}  // namespace flyball::scaler
