// Carries out a decision: writes the scale and records the outcome in the decision.
//
// Thread-safe, but no two threads may work on one autoscaler. Blocks: waits for the budget of
// requests and for the API server.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "kube/client/api_client.h"
#include "kube/client/request_budget.h"
#include "scaler/steps/decide_step.h"
#include "scaler/steps/mode.h"
#include "scaler/steps/tracked_autoscaler.h"
#include "scaler/stores/autoscaler_store.h"
#include "scaler/stores/ownership.h"
#include "scaler/stores/pod_store.h"
#include "scaler/stores/scale_store.h"
#include "scaler/stores/stall_detector.h"
#include "scaler/triggers/request_front.h"

namespace flyball::scaler {

class ActStep {
 public:
  struct Deps {
    kube::ApiClient& client;
    kube::RequestBudget& budget;
    Clock& clock;
    Ownership& ownership;
    ScaleStore& scales;
    const PodStore& pods;
    const AutoscalerStore& autoscalers;
    const ModeFlags mode;
    RequestFront* front = nullptr;          // carries the requests of http triggers; may be nullptr
    const StallDetector* stalls = nullptr;  // nullptr: the process never stalls
  };

  explicit ActStep(const Deps& deps) : deps_(deps) {}

  // Writes the decision's desired count to the scale, on condition that the target has the replicas
  // that were observed. After a conflict the scale is read again and, if its replicas are still the
  // same, written again, five times at most; for a removal, status and selector must be the same
  // too. The decision is dropped (WriteOutcome::dropped)
  //   * if another replica may own the autoscaler by now;
  //   * if the autoscaler has changed since: `is_current` knows that from the watch, and while the
  //     watch fails, or just after a stall, the API server is asked;
  //   * if it would shrink the target although the number of pods is not known, since the watch of
  //     its scale or of pods failed when it was decided, or that of pods fails now, or just after a
  //     stall; or before Ownership::MayShrink or MayPutToSleep allows it; or if it was decided too
  //     long ago;
  //   * if it meets a conflict while an earlier removal has got no answer, or is a removal that the
  //     API server may have carried out before it was sent again: that one counts first;
  //   * if it would remove the last pod while requests may arrive that would not be held
  //     (RequestFront::MayEnterZero).
  // The outcome is recorded in the decision, unless that was dropped.
  WriteOutcome WriteScale(TrackedAutoscaler& tracked, const DecisionInput& input,
                          absl::FunctionRef<bool()> is_current);

  // For modes that write no scale: makes the decision what it would be if the scale had been
  // written. The scale events in it stay those that were observed, and the status in mode advise
  // reports no scaling. In that mode, since an HPA follows, a removal is held while the watch of
  // the scale or of pods fails, or just after a stall, as it would not be written then.
  WriteOutcome Pretend(TrackedAutoscaler& tracked, const DecisionInput& input) const;

  uint64_t written() const { return written_.load(); }
  uint64_t conflicts() const { return conflicts_.load(); }

 private:
  absl::Status Write(TrackedAutoscaler& tracked, absl::FunctionRef<bool()> is_current,
                     WriteOutcome& write);
  // OK, or the reason why the decision must not be carried out any more or not yet, whose kind
  // `write` has then. Asks nobody. MayWrite: whether the scale may be written now.
  absl::Status Stands(const TrackedAutoscaler& tracked, absl::FunctionRef<bool()> is_current,
                      WriteOutcome& write);
  absl::Status MayWrite(const TrackedAutoscaler& tracked, absl::FunctionRef<bool()> is_current,
                        WriteOutcome& write);
  // Why a removal has to wait; "": it need not. WhyStale: since its data may be out of date.
  std::string WhyHeld(const TrackedAutoscaler& tracked);
  std::string WhyStale(const TrackedAutoscaler& tracked) const;
  // Why all watches may be behind: the process has just stalled. "": it has not.
  std::string Stalled() const;
  absl::Status AskWhetherCurrent(const CycleInputs& inputs);
  // The wall time, as the decision's time plus what has passed since: the decision may have waited
  // for a thread, and the wall clock may have been set meanwhile, but the times that are remembered
  // must fit together.
  absl::Time Now(const TrackedAutoscaler& tracked) const;

  const Deps deps_;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<uint64_t> conflicts_ = 0;
};

}  // namespace flyball::scaler
