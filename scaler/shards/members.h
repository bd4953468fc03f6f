// Which replicas live: each holds a member Lease, the first `PREFIX-member-<k>` that is free.
//
// Of the election's thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scaler/shards/lease_keeper.h"

namespace flyball::scaler {

class Members {
 public:
  // Replicas beyond this many are not told apart.
  static constexpr size_t kMost = 64;

  // The keeper outlives it.
  Members(LeaseKeeper& keeper, std::string prefix, std::string identity);

  // Keeps our Lease and looks at the others'.
  void Round();
  // Gives ours back.
  void Leave();
  // Identities of the replicas that live, ours first.
  std::vector<std::string> Living() const;

 private:
  LeaseKeeper& keeper_;
  const std::string prefix_;
  const std::string identity_;
  std::vector<WatchedLease> slots_;
  std::optional<size_t> own_;  // in slots_
};

}  // namespace flyball::scaler
