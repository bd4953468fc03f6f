#include "scaler/loop/schedule.h"

namespace flyball::scaler {
namespace {

// FNV-1a: the same in each process, so that replicas agree on the slots.
uint64_t StableHash(absl::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace

MonotonicTime NextSlot(absl::string_view ns, absl::Duration period, MonotonicTime now) {
  constexpr uint64_t kParts = 1 << 16;
  const uint64_t hash = StableHash(ns);
  const auto part = static_cast<int64_t>((hash ^ (hash >> 32)) % kParts);
  const absl::Duration phase = period * part / static_cast<int64_t>(kParts);
  const MonotonicTime last = absl::Floor(now - phase, period) + phase;
  return last > now ? last : last + period;
}

void Schedule::Set(Id id, MonotonicTime when) {
  const auto [slot, fresh] = due_.try_emplace(id, when);
  if (!fresh && slot->second == when) return;
  slot->second = when;
  slots_.push({when, id});
}

void Schedule::Remove(Id id) { due_.erase(id); }

void Schedule::DropStale() {
  while (!slots_.empty()) {
    const auto found = due_.find(slots_.top().id);
    if (found != due_.end() && found->second == slots_.top().when) return;
    slots_.pop();
  }
}

std::vector<Schedule::Id> Schedule::PopDue(MonotonicTime now) {
  std::vector<Id> out;
  for (DropStale(); !slots_.empty() && slots_.top().when <= now; DropStale()) {
    out.push_back(slots_.top().id);
    due_.erase(slots_.top().id);
    slots_.pop();
  }
  return out;
}

std::optional<MonotonicTime> Schedule::Next() {
  DropStale();
  if (slots_.empty()) return std::nullopt;
  return slots_.top().when;
}

}  // namespace flyball::scaler
