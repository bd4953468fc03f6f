#include "adapter/live/scrape/job_targets.h"

namespace flyball::scrape {

bool JobTargets::Put(const GroupName& name, Targets targets) {
  const Group before = std::move(groups_[name]);
  Group now{.hashes = {}, .left_out = targets.left_out};
  // New ones come first, so that those which stay are never gone.
  for (Target& target : targets.active) {
    const uint64_t hash = target.hash;
    now.hashes.push_back(hash);
    Found& found = found_[hash];
    if (++found.groups > 1) continue;
    found.target = std::move(target);
    changed_.insert(hash);
  }
  for (const uint64_t hash : before.hashes) {
    const auto found = found_.find(hash);
    if (--found->second.groups > 0) continue;
    found_.erase(found);
    changed_.insert(hash);
  }
  if (now.hashes.empty()) {
    groups_.erase(name);
    return false;
  }
  const bool begins_to_leave_out = now.left_out > 0 && before.left_out == 0;
  groups_[name] = std::move(now);
  return begins_to_leave_out;
}

std::vector<Target> JobTargets::All() const {
  std::vector<Target> all;
  for (const auto& [hash, found] : found_) all.push_back(found.target);
  return all;
}

JobTargets::Changes JobTargets::TakeChanges() {
  Changes changes;
  for (const uint64_t hash : changed_) {
    const auto found = found_.find(hash);
    if (found == found_.end()) {
      changes.gone.push_back(hash);
    } else {
      changes.added.push_back(found->second.target);
    }
  }
  changed_.clear();
  return changes;
}

}  // namespace flyball::scrape
