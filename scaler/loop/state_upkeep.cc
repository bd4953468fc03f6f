#include "scaler/loop/state_upkeep.h"

#include <algorithm>

namespace flyball::scaler {

void DropOutlived(absl::Time now, ScalerState& state) {
  std::vector<Recommendation>& all = state.recommendations;
  const auto newest = std::find_if(all.begin(), all.end(),
                                   [now](const Recommendation& r) { return r.time == now; });
  if (newest == all.end()) return;
  const int32_t replicas = newest->replicas;
  all.erase(std::remove_if(
                all.begin(), all.end(),
                [&](const Recommendation& r) { return r.replicas == replicas && r.time < now; }),
            all.end());
}

bool RenewRecommendation(int32_t replicas, absl::Time now, ScalerState& state) {
  for (Recommendation& r : state.recommendations) {
    if (r.replicas != replicas) continue;
    r.time = std::max(r.time, now);
    return true;
  }
  return false;
}

bool IsClockJump(absl::Duration moved) {
  constexpr absl::Duration kLeast = absl::Milliseconds(500);
  return moved > kLeast || moved < -kLeast;
}

void ShiftTimes(absl::Duration by, ScalerState& state) {
  for (Recommendation& r : state.recommendations) r.time += by;
  for (ScaleEvent& event : state.scale_ups) event.time += by;
  for (ScaleEvent& event : state.scale_downs) event.time += by;
}

}  // namespace flyball::scaler
