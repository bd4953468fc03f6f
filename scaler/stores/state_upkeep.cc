#include "scaler/stores/state_upkeep.h"

#include <algorithm>
#include <optional>

namespace flyball::scaler {
namespace {

// Of each two neighbours above the last one, and of each two below it, one is left. All of them are
// further from it than those after them.
void Halve(std::vector<Recommendation>& items) {
  const Recommendation last = items.back();
  items.pop_back();
  std::optional<Recommendation> above, below;  // that have no partner yet
  size_t count = 0;
  for (const Recommendation& item : items) {
    const bool is_above = item.replicas > last.replicas;
    std::optional<Recommendation>& older = is_above ? above : below;
    if (!older.has_value()) {
      older = item;
      continue;
    }
    items[count++] = {.replicas = is_above ? older->replicas : item.replicas, .time = item.time};
    older.reset();
  }
  items.resize(count);
  for (const auto& alone : {above, below}) {
    if (alone.has_value()) items.push_back(*alone);
  }
  std::sort(items.begin(), items.end(),
            [](const Recommendation& a, const Recommendation& b) { return a.time < b.time; });
  items.push_back(last);
}

}  // namespace

void CompactRecommendations(const std::vector<Recommendation>& all,
                            std::vector<Recommendation>& out) {
  out.assign(all.begin(), all.end());
  // Newest first, so that each is compared with all later ones.
  std::sort(out.begin(), out.end(),
            [](const Recommendation& a, const Recommendation& b) { return a.time > b.time; });
  size_t count = 0;
  int32_t lowest = 0, highest = 0;  // of those kept
  for (const Recommendation& item : out) {
    if (count > 0 && item.replicas >= lowest && item.replicas <= highest) continue;
    lowest = count == 0 ? item.replicas : std::min(lowest, item.replicas);
    highest = count == 0 ? item.replicas : std::max(highest, item.replicas);
    out[count++] = item;
  }
  out.resize(count);
  std::reverse(out.begin(), out.end());
  while (out.size() > kMostRecommendations) Halve(out);
}

void KeepRecommendations(const std::vector<Recommendation>& before, absl::Time now,
                         absl::Duration longest, ScalerState& state) {
  thread_local std::vector<Recommendation> all;
  all.assign(state.recommendations.begin(), state.recommendations.end());
  all.insert(all.end(), before.begin(), before.end());
  CompactRecommendations(all, state.recommendations);
  // The newest always stays: an autoscaler that remembers nothing would begin anew.
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

absl::Time NewestRecommendation(const ScalerState& state) {
  return state.recommendations.empty() ? absl::InfinitePast() : state.recommendations.back().time;
}

bool IsClockJump(absl::Duration moved) {
  return absl::AbsDuration(moved) > absl::Milliseconds(500);
}

void ShiftTimes(absl::Duration by, ScalerState& state) {
  for (Recommendation& r : state.recommendations) r.time += by;
  for (ScaleEvent& event : state.scale_ups) event.time += by;
  for (ScaleEvent& event : state.scale_downs) event.time += by;
}

}  // namespace flyball::scaler
