#include "scaler/math/pending_capacity.h"

#include <algorithm>

namespace flyball::scaler {
namespace {

bool WasNeverReady(const PodTable::Row& row, absl::Duration initial_delay) {
  if (!row.has_ready || !row.has_start_time) return true;
  return row.ready != ConditionStatus::kTrue &&
         row.start_time + initial_delay > row.ready_transition;
}

// Whether a starting pod may still become ready. A pod that is not on a node yet has no start time:
// its `start` is when the growth that asked for it began.
bool MayBecomeReady(absl::Time start, absl::Time now) { return now - start < kLongestLoad; }

bool Settles(const PodTable::Row& row, absl::Time now) {
  if (row.ready != ConditionStatus::kTrue || row.phase != PodPhase::kRunning) return false;
  const absl::Duration load = row.ready_transition - row.start_time;
  return load <= kLongestLoad && now - row.ready_transition < load;
}

PendingHold CountPending(const DecisionInput& input, absl::Time wave) {
  PendingHold out;
  int32_t there = 0;
  for (const PodTable::Row& row : input.pods->table->rows()) {
    const bool gone = row.phase == PodPhase::kFailed || row.phase == PodPhase::kSucceeded;
    if (row.deleting || gone) continue;
    ++there;
    if (WasNeverReady(row, input.config->initial_readiness_delay)) {
      const absl::Time start = row.has_start_time ? row.start_time : wave;
      if (MayBecomeReady(start, input.now)) ++out.loading;
    } else if (Settles(row, input.now)) {
      ++out.settling;
    }
  }
  if (MayBecomeReady(wave, input.now)) {
    out.loading += std::max(0, input.scale->spec_replicas - there);
  }
  return out;
}

}  // namespace

std::optional<PendingHold> GrowthWaitsFor(const DecisionInput& input, int32_t recommended,
                                          ScalerState& state) {
  PendingHold pods = CountPending(input, state.growing_since.value_or(input.now));
  if (pods.loading + pods.settling == 0) {
    state.growing_since.reset();
    if (recommended > input.scale->spec_replicas) state.growing_since = input.now;
    return std::nullopt;
  }
  if (!state.growing_since.has_value()) state.growing_since = input.now - kAskWindow;
  if (input.now - *state.growing_since < kAskWindow) return std::nullopt;
  pods.before = recommended;
  pods.after = std::min(recommended, input.scale->spec_replicas);
  return pods;
}

}  // namespace flyball::scaler
