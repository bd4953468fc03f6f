// The targets of one job by group, and their changes.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "adapter/live/scrape/targets.h"
#include "base/byte_budget.h"

namespace flyball::scrape {

class JobTargets {
 public:
  using GroupName = std::pair<std::string, std::string>;  // discovery, source

  struct LeftOut {
    size_t without_room = 0;  // targets for which there is no memory
    bool begins = false;      // the group leaves targets out, for any reason, and did not before
  };
  // Replaces the targets of the group; a group without targets is removed. New targets take what
  // they need, in memory, from `budget`, and are left out if there is no room; null: no limit.
  LeftOut Put(const GroupName& name, Targets targets,
              const std::shared_ptr<ByteBudget>& budget = nullptr);

  size_t size() const { return found_.size(); }
  // Each target once, even if several groups have it.
  std::vector<Target> All() const;

  struct Changes {
    std::vector<Target> added;
    std::vector<uint64_t> gone;  // hashes
  };
  // The changes since the last call.
  Changes TakeChanges();

 private:
  struct GroupTargets {
    std::vector<uint64_t> hashes;  // of its targets
    size_t left_out = 0;
  };
  struct Found {
    Target target;
    ByteShare memory;
    size_t groups = 0;  // how many groups have it
  };

  // One of its groups no longer has that target.
  void Release(uint64_t hash);

  std::map<GroupName, GroupTargets> groups_;
  absl::node_hash_map<uint64_t, Found> found_;  // by hash
  absl::flat_hash_set<uint64_t> changed_;       // hashes of those added, removed, or both
};

}  // namespace flyball::scrape
