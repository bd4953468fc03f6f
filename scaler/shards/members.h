// Tells which replicas are alive: each holds a member Lease, the first `PREFIX-member-<k>` that was
// free.
//
// Not thread-safe: the election's thread alone uses it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scaler/shards/lease_keeper.h"

namespace flyball::scaler {

class Members {
 public:
  // How many member Leases are read; further replicas are not known to the others.
  static constexpr size_t kMost = 64;

  // The keeper outlives this object.
  Members(LeaseKeeper& keeper, std::string prefix, std::string identity);

  // Takes or renews our own member Lease and reads those of the others.
  void Round();
  // Gives our member Lease back.
  void Leave();
  // Identities of the replicas that are alive, ours first.
  std::vector<std::string> Living() const;

 private:
  LeaseKeeper& keeper_;
  const std::string prefix_;
  const std::string identity_;
  std::vector<WatchedLease> slots_;
  std::optional<size_t> own_;  // in slots_
};

}  // namespace flyball::scaler
