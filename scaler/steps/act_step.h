// Carries a decision out: the write of the scale, and what is told of it.
//
// Thread-safe; of one entry at a time. Blocks: for the budget and for the API server.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kube/client/api_client.h"
#include "kube/client/request_budget.h"
#include "scaler/steps/decide_step.h"
#include "scaler/steps/entry.h"
#include "scaler/steps/mode.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/pod_store.h"
#include "scaler/stores/scale_store.h"

namespace flyball::scaler {

class ActStep {
 public:
  struct Parts {
    kube::ApiClient& client;
    kube::RequestBudget& budget;
    Clock& clock;
    Ownership& ownership;
    ScaleStore& scales;
    const PodStore& pods;
    const AutoscalerStore& autoscalers;
    const ModeFlags mode;
  };

  explicit ActStep(const Parts& parts) : parts_(parts) {}

  // Writes entry.decision.desired to the scale, under the condition that the target has the
  // replicas that were observed: on a conflict it is read again and, when they are still the same,
  // written again, five times at most. The decision is dropped (entry.dropped)
  //   * where another replica may own it by now;
  //   * where the autoscaler is not any more what was decided on: `is_current` says what the watch
  //     has told; while that watch fails the API server is asked;
  //   * where it would shrink the target while the watch of pods fails, as nobody knows how many
  //     of them there are, or before Ownership::MayShrink.
  // Then records the outcome in the decision, but for a dropped one.
  void WriteScale(Entry& entry, const DecisionInput& input, absl::FunctionRef<bool()> is_current);

  // In shadow: the decision as it would be if the scale had been written. The past changes of the
  // scale stay those that were seen.
  static void Pretend(const DecisionInput& input, Decision& decision);

  uint64_t written() const { return written_.load(); }
  uint64_t conflicts() const { return conflicts_.load(); }

 private:
  absl::Status Write(Entry& entry, absl::FunctionRef<bool()> is_current);
  // What speaks against writing now; `anew`: whether it is to be decided again at once.
  absl::Status MayWrite(const Entry& entry, absl::FunctionRef<bool()> is_current, bool& anew);
  absl::Status AskWhetherCurrent(const Entry& entry);

  const Parts parts_;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
};

}  // namespace flyball::scaler
