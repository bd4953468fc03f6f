// The targets of one job by group, and their changes.
//
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "adapter/live/scrape/targets.h"

namespace flyball::scrape {

class JobTargets {
 public:
  using GroupName = std::pair<std::string, std::string>;  // discovery, source

  // Replaces the targets of the group; a group without targets is removed. True: the group now
  // leaves targets out and did not before.
  bool Put(const GroupName& name, Targets targets);

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
  struct Group {
    std::vector<uint64_t> hashes;  // of its targets
    size_t left_out = 0;
  };
  struct Found {
    Target target;
    size_t groups = 0;  // how many groups have it
  };

  std::map<GroupName, Group> groups_;
  absl::node_hash_map<uint64_t, Found> found_;  // by hash
  absl::flat_hash_set<uint64_t> changed_;       // hashes of those added, removed, or both
};

}  // namespace flyball::scrape
