// Those of the loop's autoscalers that rest.
#include <utility>

#include "scaler/loop/loop.h"

namespace flyball::scaler {
namespace {

constexpr size_t kQuickTogether = 4;

}  // namespace

// It is decided with its group from now on, unless something changed meanwhile.
void Loop::PutToRest(RestMember member) {
  Entry& entry = *member.entry;
  {
    absl::MutexLock lock(&mutex_);
    if (!entry.again && !entry.woken && !entry.gone && entry.latest == entry.managed) {
      std::unique_ptr<RestGroup>& group = groups_[{entry.key.ns, entry.slots}];
      if (group == nullptr) {
        group = std::make_unique<RestGroup>(entry.key.ns, entry.slots);
        group->regular_slot = NextSlot(group->ns, group->slots, parts_.clock.MonotonicNow());
        rounds_.Set(*group, group->regular_slot);
      }
      entry.busy = false;
      schedule_.Remove(entry);
      entry.group_at_rest = group.get();
      group->joining.push_back(std::move(member));
      return;
    }
  }
  Finish(entry);
}

void Loop::Leave(Entry& entry, bool at_once) {
  RestGroup& group = *entry.group_at_rest;
  group.leaving.push_back(&entry);
  if (!at_once) return;
  if (group.busy) {
    group.again = true;
  } else {
    rounds_.Set(group, parts_.clock.MonotonicNow());
  }
}

std::vector<Loop::DueGroup> Loop::DueGroups(MonotonicTime now) {
  std::vector<DueGroup> due;
  for (Schedule::Item* item : rounds_.PopDue(now)) {
    auto& group = static_cast<RestGroup&>(*item);
    const bool regular = group.regular_slot <= now;
    if (regular) group.regular_slot = NextSlot(group.ns, group.slots, now);
    rounds_.Set(group, group.regular_slot);
    if (group.busy) continue;  // it is late; its next slot is its next chance
    group.busy = true;
    due.push_back({.group = &group,
                   .has_round = regular,
                   .change = {.joining = std::exchange(group.joining, {}),
                              .leaving = std::exchange(group.leaving, {}),
                              .ownership_epoch = ownership_epoch_.load()}});
  }
  return due;
}

// Those that are quick are asked for one after the other, some by each thread.
void Loop::AskRounds(const std::vector<DueGroup>& due) {
  std::vector<RestGroup*> quick;
  const auto hand_over = [&] {
    if (quick.empty()) return;
    parts_.plan.run_reads([this, groups = std::exchange(quick, {})] {
      for (RestGroup* const group : groups) AskRound(*group, /*here=*/true);
    });
  };
  for (const DueGroup& one : due) {
    RestGroup& group = *one.group;
    if (!one.has_round || group.members.empty()) {
      FinishRound(group);
    } else if (group.quick) {
      quick.push_back(&group);
      if (quick.size() == kQuickTogether) hand_over();
    } else {
      AskRound(group, /*here=*/false);
    }
  }
  hand_over();
}

void Loop::AskRound(RestGroup& group, bool here) {
  group.asked = parts_.clock.MonotonicNow();
  if (parts_.rest.Ask(group, here, [this, &group] { EndRound(group); })) EndRound(group);
}

void Loop::EndRound(RestGroup& group) {
  const DecideStep::Times now = Now();
  std::vector<Entry*> due;
  std::vector<Entry*> gone;
  const std::vector<Entry*> leaving = parts_.rest.End(group, now);
  decisions_ += group.members.size();
  unchanged_ += group.members.size();
  if (!leaving.empty()) {
    absl::MutexLock lock(&mutex_);
    for (Entry* entry : leaving) TakeDue(*entry, now.monotonic, due, gone);
    // What this round was told counts for them.
    for (Entry* entry : due) entry->not_before = std::min(entry->not_before, group.began);
  }
  FinishRound(group);
  for (Entry* entry : gone) Erase(*entry);
  if (!due.empty()) BeginAll(due, now.monotonic);
}

void Loop::FinishRound(RestGroup& group) {
  bool again = false;
  {
    absl::MutexLock lock(&mutex_);
    group.busy = false;
    again = std::exchange(group.again, false);
    if (again) {
      rounds_.Set(group, parts_.clock.MonotonicNow());
    } else if (group.members.empty() && group.joining.empty() && group.leaving.empty()) {
      rounds_.Remove(group);
      groups_.erase({group.ns, group.slots});
    }
  }
  if (again) parts_.wake_up();
}

}  // namespace flyball::scaler
