#include "scaler/stores/state_upkeep.h"

#include <algorithm>

namespace flyball::scaler {

namespace {

// Newest first, each beyond all later ones. This runs at each decision, where few are kept of many:
// one pass for each that is kept, without an order. False: more than a few.
bool CompactByPasses(const std::vector<Recommendation>& all, std::vector<Recommendation>& out) {
  constexpr size_t kFew = 8;
  out.clear();
  int32_t lowest = 0, highest = 0;  // of those kept
  for (size_t pass = 0; pass <= kFew; ++pass) {
    const Recommendation* next = nullptr;  // the newest of those beyond
    for (const Recommendation& item : all) {
      const bool beyond = pass == 0 || item.replicas < lowest || item.replicas > highest;
      if (beyond && (next == nullptr || item.time > next->time)) next = &item;
    }
    if (next == nullptr) return true;
    lowest = pass == 0 ? next->replicas : std::min(lowest, next->replicas);
    highest = pass == 0 ? next->replicas : std::max(highest, next->replicas);
    out.push_back(*next);
  }
  return false;
}

void CompactBySorting(const std::vector<Recommendation>& all, std::vector<Recommendation>& out) {
  out.assign(all.begin(), all.end());
  std::sort(out.begin(), out.end(),
            [](const Recommendation& a, const Recommendation& b) { return a.time > b.time; });
  size_t count = 0;
  int32_t lowest = 0, highest = 0;
  for (const Recommendation& item : out) {
    if (count > 0 && item.replicas >= lowest && item.replicas <= highest) continue;
    lowest = count == 0 ? item.replicas : std::min(lowest, item.replicas);
    highest = count == 0 ? item.replicas : std::max(highest, item.replicas);
    out[count++] = item;
  }
  out.resize(count);
}

}  // namespace

void CompactRecommendations(const std::vector<Recommendation>& all,
                            std::vector<Recommendation>& out) {
  if (!CompactByPasses(all, out)) CompactBySorting(all, out);
  std::reverse(out.begin(), out.end());
}

void KeepRecommendations(const std::vector<Recommendation>& before, absl::Time now,
                         absl::Duration longest, ScalerState& state) {
  thread_local std::vector<Recommendation> all;
  all.assign(state.recommendations.begin(), state.recommendations.end());
  all.insert(all.end(), before.begin(), before.end());
  CompactRecommendations(all, state.recommendations);
  // The newest stays: whoever remembers nothing begins anew.
  std::vector<Recommendation>& kept = state.recommendations;
  while (kept.size() > 1 && kept.front().time < now - longest) kept.erase(kept.begin());
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
