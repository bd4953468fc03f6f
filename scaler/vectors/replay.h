// Runs a scenario: admission, then one reconcile for each tick, the state carried over.
//
// Pure. The math is the one that the loop uses in a cluster; here the cluster is scripted, and no
// guard (steps/guard.h) is around the math.
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
  bool tells_generation = false;  // of a dialect whose vectors say which one is stored
  std::vector<TickResult> ticks;  // empty when admission refused
};

ReplayResult Replay(const Scenario& scenario);

// The result as one line of JSON, in the form that the vectors expect.
std::string ResultJson(const ReplayResult& result);

}  // namespace flyball::scaler
