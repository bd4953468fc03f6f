// Those of the loop's autoscalers that rest.
#include <algorithm>
#include <atomic>
#include <utility>

#include "scaler/loop/loop.h"

namespace flyball::scaler {
namespace {

// Rounds come in bursts, half a period apart or this: one after the other they find caches warm and
// a thread awake, and the source still has one question of them at a time.
constexpr absl::Duration kBurst = absl::Milliseconds(500);

// When one of them takes longer than this, another thread goes on with the next.
constexpr absl::Duration kStuck = absl::Milliseconds(50);

MonotonicTime NextRound(const RestGroup& group, MonotonicTime now) {
  const absl::Duration burst = std::min(kBurst, group.slots / 2);
  return absl::Ceil(NextSlot(group.ns, group.slots, now), burst);
}

}  // namespace

// It is decided with its group from now on, unless something changed meanwhile.
void Loop::PutToRest(RestMember member) {
  TrackedAutoscaler& tracked = *member.tracked;
  {
    absl::MutexLock lock(&mutex_);
    std::unique_ptr<RestGroup>& group = groups_[{tracked.key.ns, tracked.slots}];
    if (group == nullptr) {
      group = std::make_unique<RestGroup>(tracked.key.ns, tracked.slots);
      group->regular_slot = NextRound(*group, deps_.clock.MonotonicNow());
      rounds_.Set(*group, group->regular_slot);
    }
    const bool late = group->busy && group->taken;  // nobody knows when its next round is
    if (!late && !tracked.again && !tracked.woken && !tracked.gone &&
        tracked.latest == tracked.managed) {
      tracked.busy = false;
      schedule_.Remove(tracked);
      tracked.group_at_rest = group.get();
      group->joining.push_back(std::move(member));
      return;
    }
  }
  Finish(tracked);
}

void Loop::Leave(TrackedAutoscaler& tracked, bool at_once) {
  RestGroup& group = *tracked.group_at_rest;
  group.leaving.push_back(&tracked);
  if (!at_once) return;
  if (group.busy) {
    group.again = true;
  } else {
    rounds_.Set(group, deps_.clock.MonotonicNow());
  }
}

std::vector<Loop::DueGroup> Loop::DueGroups(MonotonicTime now, std::vector<TrackedAutoscaler*>& due,
                                            std::vector<TrackedAutoscaler*>& gone) {
  std::vector<DueGroup> groups;
  for (Schedule::Item* item : rounds_.PopDue(now)) {
    auto& group = static_cast<RestGroup&>(*item);
    const bool regular = group.regular_slot <= now;
    if (regular) group.regular_slot = NextRound(group, now);
    rounds_.Set(group, group.regular_slot);
    if (group.busy) {
      if (!regular || group.taken.exchange(true)) continue;
      // Under the lock, as the round may end any moment.
      for (TrackedAutoscaler* tracked : deps_.rest.Abandon(group))
        TakeDue(*tracked, now, due, gone);
      for (const RestMember& member : std::exchange(group.joining, {})) {
        TakeDue(*member.tracked, now, due, gone);
      }
      continue;
    }
    group.busy = true;
    group.taken = false;
    groups.push_back({.group = &group,
                      .has_round = regular,
                      .change = {.joining = std::exchange(group.joining, {}),
                                 .leaving = std::exchange(group.leaving, {}),
                                 .ownership_epoch = ownership_epoch_.load()}});
  }
  return groups;
}

// Rounds that are asked for one after the other.
struct Loop::Burst {
  std::vector<RestGroup*> groups;
  std::atomic<size_t> next = 0;
  std::atomic<int64_t> begun = 0;  // when the last one was, or should have been; nanoseconds
};

void Loop::AskRounds(const std::vector<DueGroup>& due, MonotonicTime now) {
  std::erase_if(bursts_, [](const auto& burst) { return burst->next >= burst->groups.size(); });
  for (const std::shared_ptr<Burst>& burst : bursts_) {
    if (now - absl::Nanoseconds(burst->begun.load()) > kStuck) WorkOn(burst, now);
  }
  std::shared_ptr<Burst> quick;
  for (const DueGroup& one : due) {
    RestGroup& group = *one.group;
    if (!one.has_round || group.members.empty()) {
      FinishRound(group);
    } else if (!group.IsQuick()) {
      AskRound(group, /*here=*/false);
    } else {
      if (quick == nullptr) quick = bursts_.emplace_back(std::make_shared<Burst>());
      quick->groups.push_back(&group);
    }
  }
  if (quick != nullptr) WorkOn(quick, now);
}

void Loop::WorkOn(const std::shared_ptr<Burst>& burst, MonotonicTime now) {
  burst->begun = absl::ToInt64Nanoseconds(now);
  deps_.plan.run_reads([this, burst] {
    for (size_t i; (i = burst->next.fetch_add(1)) < burst->groups.size();) {
      burst->begun = absl::ToInt64Nanoseconds(deps_.clock.MonotonicNow());
      AskRound(*burst->groups[i], /*here=*/true);
    }
  });
}

void Loop::AskRound(RestGroup& group, bool here) {
  group.asked = deps_.clock.MonotonicNow();
  if (deps_.rest.Ask(group, here, [this, &group] { EndRound(group); })) EndRound(group);
}

void Loop::EndRound(RestGroup& group) {
  if (group.taken.exchange(true)) return FinishRound(group);  // it was too late
  const DecideStep::Times now = Now();
  std::vector<TrackedAutoscaler*> due;
  std::vector<TrackedAutoscaler*> gone;
  const std::vector<TrackedAutoscaler*> leaving = deps_.rest.End(group, now);
  decisions_ += group.members.size();
  unchanged_ += group.members.size();
  if (!leaving.empty()) {
    absl::MutexLock lock(&mutex_);
    for (TrackedAutoscaler* tracked : leaving) TakeDue(*tracked, now.monotonic, due, gone);
    // What this round was told counts for them.
    for (TrackedAutoscaler* tracked : due)
      tracked->not_before = std::min(tracked->not_before, group.began);
  }
  FinishRound(group);
  for (TrackedAutoscaler* tracked : gone) Erase(*tracked);
  if (!due.empty()) BeginAll(due, now.monotonic);
}

void Loop::FinishRound(RestGroup& group) {
  bool again = false;
  {
    absl::MutexLock lock(&mutex_);
    group.busy = false;
    again = std::exchange(group.again, false);
    if (again) {
      rounds_.Set(group, deps_.clock.MonotonicNow());
    } else if (group.members.empty() && group.joining.empty() && group.leaving.empty() &&
               !group.brought_together) {
      rounds_.Remove(group);
      groups_.erase({group.ns, group.slots});
    }
  }
  if (again) deps_.wake_up();
}

}  // namespace flyball::scaler
