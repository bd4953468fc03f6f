#include "adapter/live/scrape/job_targets.h"

#include <utility>

namespace flyball::scrape {
namespace {

// About what a target takes, with its scraper and client, beside its texts, which are kept twice.
constexpr size_t kBytesOfTarget = 4096;

size_t BytesOf(const Target& target) {
  size_t texts = target.origin.size() + target.path.size();
  for (const promql::LabelSet* labels : {&target.labels, &target.sample_labels}) {
    for (const auto& label : *labels) {
      texts += sizeof(label) + label.first.size() + label.second.size();
    }
  }
  return kBytesOfTarget + 2 * texts;
}

}  // namespace

JobTargets::LeftOut JobTargets::Put(const GroupName& name, Targets targets,
                                    const std::shared_ptr<ByteBudget>& budget) {
  const GroupTargets before = std::move(groups_[name]);
  GroupTargets now{.hashes = {}, .left_out = targets.left_out};
  LeftOut left_out;
  absl::flat_hash_set<uint64_t> wanted;
  for (const Target& target : targets.active) wanted.insert(target.hash);
  // What goes gives its memory to what comes; what stays is never gone, so it keeps its own.
  for (const uint64_t hash : before.hashes) {
    if (!wanted.contains(hash)) Release(hash);
  }
  for (Target& target : targets.active) {
    const uint64_t hash = target.hash;
    auto found = found_.find(hash);
    if (found == found_.end()) {
      ByteShare memory(budget, 0);
      if (!memory.Grow(BytesOf(target))) {
        ++left_out.without_room;
        continue;
      }
      found = found_.emplace(hash, Found{std::move(target), std::move(memory)}).first;
      changed_.insert(hash);
    }
    ++found->second.groups;
    now.hashes.push_back(hash);
  }
  for (const uint64_t hash : before.hashes) {
    if (wanted.contains(hash)) Release(hash);
  }
  if (now.hashes.empty() && left_out.without_room == 0) {
    groups_.erase(name);
    return {};
  }
  now.left_out += left_out.without_room;
  left_out.begins = now.left_out > 0 && before.left_out == 0;
  groups_[name] = std::move(now);
  return left_out;
}

void JobTargets::Release(uint64_t hash) {
  const auto found = found_.find(hash);
  if (--found->second.groups > 0) return;
  found_.erase(found);
  changed_.insert(hash);
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
