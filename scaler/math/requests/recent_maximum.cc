#include "scaler/math/requests/recent_maximum.h"

namespace flyball::scaler {

RecentMaximum::RecentMaximum(absl::Duration length, absl::Duration tick)
    : tick_(tick), slots_(absl::Ceil(length, tick) / tick) {}

int32_t RecentMaximum::Record(absl::Time now, int32_t count) {
  const int64_t slot = absl::Floor(now - absl::UnixEpoch(), tick_) / tick_;
  while (!falling_.empty() && falling_.back().count <= count) falling_.pop_back();
  while (!falling_.empty() && slot - falling_.front().slot >= slots_) falling_.pop_front();
  // If this slot already has a larger count, that one stays.
  if (falling_.empty() || falling_.back().slot != slot) falling_.push_back({slot, count});
  return falling_.front().count;
}

}  // namespace flyball::scaler
