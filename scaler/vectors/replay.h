// Runs a scenario: admission, then one reconcile for each tick, with the state of the previous one.
//
// Pure. The math is the one that the loop uses in a cluster. Here the scenario scripts the cluster,
// and the guard (steps/guard.h) is left out, since the original has none.
#pragma once

#include <string>
#include <vector>

#include "scaler/math/decision.h"
#include "scaler/spec/hpa/admission.h"
#include "scaler/vectors/scenario.h"

namespace flyball::scaler {

struct ScaleWrite {
  int32_t replicas = 0;
  std::string outcome;  // "ok", "conflict", "notfound", "error"
};

struct TickResult {
  Decision decision;
  std::vector<ScaleWrite> scale_writes;
  bool status_written = false;
  AutoscalerStatus stored;  // the status after the tick
};

struct ReplayResult {
  std::string id;
  AdmissionResult admission;
  bool tells_generation = false;  // the dialect's vectors have the stored generation
  std::vector<TickResult> ticks;  // empty if admission refused the autoscaler
};

ReplayResult Replay(const Scenario& scenario);

// The result as one line of JSON, in the form that the vectors have.
std::string ResultJson(const ReplayResult& result);

}  // namespace flyball::scaler
