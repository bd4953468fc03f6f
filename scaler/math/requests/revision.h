// From a wanted count to the one that is applied: the bounds, the way to zero, and who receives the
// requests meanwhile. One step of a controller, as a function of what it sees.
//
// Pure: time is an argument; the one question that has to be asked on the way, whether the
// activator is reachable in front of the pods, is a callback. Not thread-safe; a status for each
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

// Who receives the requests: the pods, or the activators before them.
enum class ServeMode { kProxy, kServe };

// What the cluster says of the service in front: it is told a mode and says what came of it.
struct FrontService {
  bool exists = false;  // with names
  ServeMode mode = ServeMode::kProxy;
  int32_t activators = 0;
  bool ready = false;                          // somebody could answer
  std::optional<absl::Time> activators_since;  // set while requests go through activators
};

struct RevisionStatus {
  ConditionState active = ConditionState::kUnknown;
  std::string reason;                 // of active
  std::optional<absl::Time> changed;  // when active or its reason did, in whole seconds
  bool initialized = false;           // its first pods were ready once; stays so
  bool front_ready = false;
  std::optional<int32_t> wanted;  // as it was applied
  int32_t ready_pods = 0;

  ConditionState ready() const;
};

struct RevisionInput {
  absl::Time now;
  int32_t wanted = -1;  // of the decider; -1: it does not know yet
  int32_t excess_burst = 0;
  int32_t ready_pods = 0;
  int32_t replicas = 0;  // that the target has been told
};

// What is to be done after the step.
struct RevisionActions {
  std::optional<int32_t> replicas;         // tell the target
  std::vector<absl::Duration> look_again;  // take another step after this
  int probes = 0;                          // how often the activator was asked
  bool probe_on = false;  // ask on, every second for 45 s, and take a step 1 s after the answer
};

// Takes one step. `activator_answers` is asked at most once. Writes to `status` and to the mode and
// the number of activators of `front`.
RevisionActions StepRevision(const RequestSettings& settings, const RevisionInput& input,
                             absl::FunctionRef<bool()> activator_answers, FrontService& front,
                             RevisionStatus& status);

}  // namespace flyball::scaler
