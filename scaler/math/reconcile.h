// One reconcile of one autoscaler as three pure steps, with the two writes between them. The first
// is a decider's, of which there is one for each kind of math (hpa/hpa_decider.h).
//
//   decider.Decide(input, options, workspace, decision);
//   if (decision.rescale)        RecordScaleWrite(input, outcome of the PUT, decision);
//   if (decision.status_changed) wrote = outcome of the status write;
//   RecordStatusWrite(input, wrote, decision);
//
// Pure: no clock, I/O, logging or globals. A Workspace and a Decision belong to one thread at a
// time; inputs and deciders may be shared.
//
// Source:  Kubernetes v1.34.4 and v1.37.1 pkg/controller/podautoscaler/horizontal.go
//          (reconcileAutoscaler).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/math/decision.h"
#include "scaler/math/input.h"

namespace flyball::scaler {

struct DecideOptions {
  bool pod_detail = false;  // fill Proposal::pod_groups
};

// Buffers that are reused from one decision to the next, without meaning in between.
struct Workspace {
  std::vector<int32_t> sample_of_row;
  std::vector<PodGroup> groups;  // by PodTable row, of the last metric
};

class Decider {
 public:
  virtual ~Decider() = default;

  // Whether a decision would use the metrics at all. If not, the caller need not read pods and
  // metrics. Depends on autoscaler, status, scale and config.
  virtual bool ReadsMetrics(const DecisionInput& input) const = 0;

  // Fills all of `decision`, as a function of the other arguments, which include the time.
  virtual void Decide(const DecisionInput& input, const DecideOptions& options,
                      Workspace& workspace, Decision& decision) const = 0;
};

// Records the outcome of writing the scale: "" or the error's text. Must be called after Decide if
// `decision.rescale` is set; may change status, events, error, labels and state.
void RecordScaleWrite(const DecisionInput& input, absl::string_view error, Decision& decision);

// Records the outcome of writing the status, "" also if no write was needed. Always the last step:
// it adds the events that upstream sends after the write.
void RecordStatusWrite(const DecisionInput& input, absl::string_view error, Decision& decision);

}  // namespace flyball::scaler
