// Decides one autoscaler of a snapshot; keeps its inputs, where they come from, and the decision.
//
// Pure. The math and the guard are those of the loop in a cluster. No file has what a controller
// remembers (past recommendations and changes), so the decision is the first one after a start, for
// which the current count is the only recommendation so far.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/explain/snapshot.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

struct LoggedDecision;

struct CaseOptions {
  absl::Time now;
  std::string now_source;  // "now", "--at"
  ControllerFlags flags;
  Dialect dialect;
};

struct GivenCase {
  Autoscaler autoscaler;  // the decider's input: with the metrics of its triggers
  std::string now_source;
  ScaleAnswer scale;
  std::string scale_source;  // "Deployment web", …
  PodTable table;
  size_t pods_in_all = 0;          // the number of pods, if the table has fewer
  std::vector<Reading> readings;   // one for each metric spec; empty if none was read
  std::vector<std::string> notes;  // what readers must know about the inputs
  Decision decision;               // as if its writes succeeded
};

// Decides an autoscaler, which must be one of the snapshot's.
GivenCase DecideGiven(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler,
                      const CaseOptions& options);
GivenCase DecideGiven(const ClusterSnapshot& snapshot, const GivenOwnAutoscaler& given,
                      const CaseOptions& options);

// The same form of a decision in the log of the running scaler (logged_case.cc).
GivenCase CaseFromLog(LoggedDecision logged);

}  // namespace flyball::scaler
