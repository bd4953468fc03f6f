// The part of the loop that runs rounds of steady autoscalers, and keeps groups of them.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "scaler/loop/loop.h"

namespace flyball::scaler {

// Dissolves the kept groups whose common inputs have changed, and those that have the same key as
// another group or steady autoscaler that is due now, so that these can become one group.
void Loop::DissolveOld(Begun& begun, MonotonicTime now) {
  absl::flat_hash_map<GroupKey, int> alike;
  for (const TrackedAutoscaler* tracked : begun.due) {
    if (tracked->steady_on != nullptr && !tracked->not_steady) ++alike[SteadyStep::KeyOf(*tracked)];
  }
  for (const SteadyGroup* group : begun.groups) ++alike[group->key];
  SteadyStep::Present present = deps_.steady.Look(ownership_epoch_.load(), Now());
  std::erase_if(begun.groups, [&](SteadyGroup* group) {
    if (alike[group->key] == 1 && deps_.steady.Hold(*group, present)) return false;
    absl::MutexLock lock(&mutex_);
    for (TrackedAutoscaler* tracked : Dissolve(*group)) BeginCycle(*tracked, now, begun);
    return true;
  });
}

void Loop::BeginRounds(absl::Span<SteadyGroup* const> groups, QuestionBoard::ToAsk& to_ask) {
  std::vector<SteadyGroup*> ready;
  for (SteadyGroup* group : groups) {
    if (deps_.steady.Ask(*group, to_ask)) ready.push_back(group);
  }
  for (SteadyGroup* group : ready) EndRound(*group);
}

// Decides the members whose answers have changed now, on the answers of this round.
void Loop::EndRound(SteadyGroup& group) {
  const DecideStep::Times now = Now();
  std::vector<TrackedAutoscaler*> changed = deps_.steady.End(group, now);
  decisions_ += group.members.size();
  unchanged_ += group.members.size();
  std::vector<TrackedAutoscaler*> unchanged;
  {
    absl::MutexLock lock(&mutex_);
    if (changed.empty() && MayBeKept(group)) return Keep(group);
    for (TrackedAutoscaler* tracked : changed) TakeOut(group, *tracked);
    unchanged = Dissolve(group);
  }
  FinishAll(unchanged);
  if (!changed.empty()) BeginAll(std::move(changed), {}, now.monotonic);
}

// Whether nothing is known about any member except that all are due together again.
bool Loop::MayBeKept(const SteadyGroup& group) const {
  if (group.due.kept) return !group.due.broken;
  const DueState& first = group.members[0].autoscaler->due;
  return std::all_of(group.members.begin(), group.members.end(), [&first](const auto& member) {
    const TrackedAutoscaler& tracked = *member.autoscaler;
    const DueState& due = tracked.due;
    return due.latest == tracked.inputs.managed && !due.has_schedules && !due.gone && !due.woken &&
           !due.again && due.slots == due.latest_slots && due.slots == first.slots &&
           due.regular_slot == first.regular_slot && Schedule::DueAt(tracked) == due.regular_slot;
  });
}

void Loop::Keep(SteadyGroup& group) {
  group.due.busy = false;
  if (std::exchange(group.due.kept, true)) return;
  const DueState& first = group.members[0].autoscaler->due;
  group.due.slots = first.slots;
  group.due.regular_slot = first.regular_slot;
  for (const RoundMember& member : group.members) {
    DueState& due = member.autoscaler->due;
    schedule_.Remove(*member.autoscaler);
    due.group = &group;
    due.busy = false;
    due.steady = true;
  }
  schedule_.Set(group, group.due.regular_slot);
}

void Loop::TakeOut(SteadyGroup& group, TrackedAutoscaler& tracked) {
  if (!group.due.kept) return;
  tracked.due.group = nullptr;
  tracked.due.busy = group.due.busy;
  if (Schedule::DueAt(tracked).has_value()) return;  // it was scheduled anew: its period changed
  tracked.due.regular_slot = group.due.regular_slot;
  schedule_.Set(tracked, tracked.due.regular_slot);
}

std::vector<TrackedAutoscaler*> Loop::Dissolve(SteadyGroup& group) {
  std::vector<TrackedAutoscaler*> autoscalers;
  for (const RoundMember& member : group.members) {
    autoscalers.push_back(member.autoscaler);
    TakeOut(group, *member.autoscaler);
  }
  schedule_.Remove(group);
  groups_.erase(&group);
  return autoscalers;
}

void Loop::BreakGroup(const TrackedAutoscaler& tracked) {
  SteadyGroup* const group = tracked.due.group;
  if (group == nullptr) return;
  if (group->due.busy) {
    group->due.broken = true;
  } else {
    Dissolve(*group);
  }
}

}  // namespace flyball::scaler
