#include "scaler/stores/state_upkeep.h"

#include <algorithm>

namespace flyball::scaler {
namespace {

// Above the last one, and below it, neighbours of the same period become one: the older count,
// which is further from the last one, with the later time. Begins with the oldest and ends once no
// more than `most` are left. Returns whether that was enough.
bool Thin(absl::Duration period, size_t most, std::vector<Recommendation>& items) {
  const Recommendation last = items.back();
  Recommendation *above = nullptr, *below = nullptr;  // the one before on each side
  size_t count = 0, left = items.size();
  const auto period_of = [period](const Recommendation& item) {
    return absl::Floor(item.time - absl::UnixEpoch(), period);
  };
  for (size_t i = 0; i + 1 < items.size(); ++i) {
    const Recommendation item = items[i];
    Recommendation*& before = item.replicas > last.replicas ? above : below;
    if (left > most && before != nullptr && period_of(*before) == period_of(item)) {
      before->time = item.time;
      --left;
      continue;
    }
    items[count] = item;
    before = &items[count++];
  }
  items.resize(count);
  std::sort(items.begin(), items.end(),
            [](const Recommendation& a, const Recommendation& b) { return a.time < b.time; });
  items.push_back(last);
  return left <= most;
}

// The periods never move, and each longer one consists of two shorter ones. So a merged item is
// always from a single period, however often this is done.
void ThinToMost(std::vector<Recommendation>& items) {
  if (items.size() <= kMostRecommendations) return;
  for (absl::Duration period = kThinningPeriod; !Thin(period, kMostRecommendations, items);) {
    period *= 2;
  }
}

void LeaveOutUnnoticed(const std::vector<Recommendation>& all, std::vector<Recommendation>& out) {
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
}

}  // namespace

void CompactRecommendations(const std::vector<Recommendation>& all,
                            std::vector<Recommendation>& out) {
  LeaveOutUnnoticed(all, out);
  ThinToMost(out);
}

void KeepRecommendations(const std::vector<Recommendation>& before, absl::Time now,
                         absl::Duration longest, ScalerState& state) {
  thread_local std::vector<Recommendation> all;
  all.assign(state.recommendations.begin(), state.recommendations.end());
  all.insert(all.end(), before.begin(), before.end());
  std::vector<Recommendation>& kept = state.recommendations;
  LeaveOutUnnoticed(all, kept);
  // The newest always stays: an autoscaler that remembers nothing would begin anew.
  const auto young = [&](const Recommendation& item) { return item.time >= now - longest; };
  if (!kept.empty()) kept.erase(kept.begin(), std::find_if(kept.begin(), kept.end() - 1, young));
  ThinToMost(kept);
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
  if (state.growing_since.has_value()) *state.growing_since += by;
}

}  // namespace flyball::scaler
