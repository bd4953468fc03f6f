#include "scaler/steps/schedule.h"

#include <algorithm>

#include "base/stable_hash.h"

namespace flyball::scaler {

MonotonicTime NextSlot(absl::string_view ns, absl::Duration period, MonotonicTime now) {
  constexpr uint64_t kParts = 1 << 16;
  constexpr absl::Duration kGrain = absl::Milliseconds(40);
  // The same in each process, so that replicas agree on the slots.
  const uint64_t hash = StableHash(ns);
  const auto part = static_cast<int64_t>((hash ^ (hash >> 32)) % kParts);
  // Phases are rounded, so that the loop wakes once for namespaces that are due at almost the same
  // time.
  const absl::Duration grain = std::min(kGrain, period / 25);
  const absl::Duration phase = absl::Floor(period * part / static_cast<int64_t>(kParts), grain);
  const MonotonicTime last = absl::Floor(now - phase, period) + phase;
  return last > now ? last : last + period;
}

MonotonicTime SlotAfter(MonotonicTime slot, absl::string_view ns, absl::Duration period,
                        MonotonicTime now) {
  return slot <= now && slot + period > now ? slot + period : NextSlot(ns, period, now);
}

void Schedule::Set(Item& item, MonotonicTime when) {
  if (item.due_ == when) return;
  Remove(item);
  std::vector<Item*>& slot = slots_[when];
  item.due_ = when;
  item.place_ = slot.size();
  slot.push_back(&item);
}

void Schedule::Remove(Item& item) {
  if (!item.due_.has_value()) return;
  const auto slot = slots_.find(*item.due_);
  std::vector<Item*>& items = slot->second;
  items[item.place_] = items.back();
  items[item.place_]->place_ = item.place_;
  items.pop_back();
  if (items.empty()) slots_.erase(slot);
  item.due_.reset();
}

std::vector<Schedule::Item*> Schedule::PopDue(MonotonicTime now) {
  std::vector<Item*> out;
  while (!slots_.empty() && slots_.begin()->first <= now) {
    const std::vector<Item*>& items = slots_.begin()->second;
    for (Item* item : items) item->due_.reset();
    out.insert(out.end(), items.begin(), items.end());
    slots_.erase(slots_.begin());
  }
  return out;
}

std::optional<MonotonicTime> Schedule::Next() const {
  if (slots_.empty()) return std::nullopt;
  return slots_.begin()->first;
}

}  // namespace flyball::scaler
