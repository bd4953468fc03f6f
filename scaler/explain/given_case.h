// One autoscaler of a snapshot, decided: what was used, where it came from, and the decision.
//
// Pure. It goes through the same math and the same guard as the loop does in a cluster. What a
// controller remembers (past recommendations and changes) is in no file, so the decision is the
// first one after a start: the current count stands for a recommendation just made.
#pragma once

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "scaler/explain/snapshot.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

struct CaseOptions {
  absl::Time now;
  std::string now_source;  // "now", "--at"
  ControllerFlags flags;
  Dialect dialect;
};

struct GivenCase {
  Autoscaler autoscaler;  // as it was decided on: with the metrics of its triggers
  std::string now_source;
  ScaleAnswer scale;
  std::string scale_source;  // "Deployment web", …
  PodTable table;
  size_t pods_in_all = 0;          // how many there were, when the table holds fewer
  std::vector<Reading> readings;   // one for each metric spec; empty when none was read
  std::vector<std::string> notes;  // what a reader of the decision has to know about its inputs
  Decision decision;               // as if its writes succeeded
};

// Decides `autoscaler`, which is one of the snapshot's.
GivenCase DecideGiven(const ClusterSnapshot& snapshot, const Autoscaler& autoscaler,
                      const CaseOptions& options);
GivenCase DecideGiven(const ClusterSnapshot& snapshot, const GivenOwnAutoscaler& given,
                      const CaseOptions& options);

}  // namespace flyball::scaler
