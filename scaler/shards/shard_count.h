// Agrees with the other replicas on the number of shards. If two replicas used different numbers, a
// namespace could have two owners.
//
// The Lease `PREFIX-shards` holds the number. Its holder is "8", or "8->16" while 16 replaces 8. If
// it is empty or does not exist, no number was agreed on yet, or somebody has deleted it. A replica
// that has read it before then goes by the last number: Leases of these shards that do not exist
// either may still be held. A replica that has read no number, but finds saved state, which only an
// owner leaves, goes by its own number in the same way.
//   * A replica takes a shard only if the Lease says the replica's own number, and reads it again
//     after taking one and before deciding anything in it.
//   * A replica with another number waits until each Lease of a shard is free or has run out. Then
//     it announces its number, reads all Leases once more, has the saved state moved, and writes
//     that the new number is in force.
//   * An owner that finds another number hands its shards over.
// If one replica takes a shard while another announces a number, at least one of the two sees what
// the other did, since each writes first and reads afterwards.
//
// Not thread-safe: the election's thread alone uses it. A round costs one request; while another
// number is in force it costs one more for each shard of that number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "scaler/shards/lease_keeper.h"

namespace flyball::scaler {

// What the Lease says. Pure.
struct AgreedCount {
  int shards = 0;                     // 0: nothing was agreed on
  std::optional<int> announced = {};  // the number that is about to replace it

  // A text of any other form counts as no agreement.
  static AgreedCount Parse(absl::string_view holder);
  std::string ToString() const;
};

class ShardMemory;

class ShardCount {
 public:
  enum class State {
    kOurs,     // shards may be taken
    kOther,    // no shards may be taken; those that are held are to be handed over
    kUnknown,  // the Lease cannot be read
  };

  // The keeper and the memory outlive this object; `memory` may be nullptr.
  ShardCount(LeaseKeeper& keeper, std::string prefix, int shards, ShardMemory* memory,
             Clock& clock);

  // Reads the Lease, and changes it to our number if no shard of another number has an owner.
  State Round();
  // Reads the Lease now. Returns whether it still says our number.
  bool Confirm();

  // Grows with each change of the number. Of two saved states, the one with the higher term is of
  // the later division.
  int64_t term() const { return record_.lease.transitions; }
  // Whether, when the last round put our number in force, the Lease of that shard was free or had
  // run out and has not changed since, unless another replica, which waits for a shard whose Lease
  // is missing, has made it (LeaseKeeper::MakeEmptied). Such a shard has no owner, unless one took
  // it after `now` was read.
  bool SawEnded(size_t shard, const WatchedLease& now) const {
    if (!settled_ || shard >= others_.size()) return false;
    const WatchedLease& then = others_[shard];
    return then.lease.resource_version == now.lease.resource_version ||
           (then.missing() && now.emptied());
  }

 private:
  std::string LeaseOf(size_t shard) const;
  bool SaysOurs() const;
  void LookForEarlierOwners();
  // Whether the Leases of all shards are free or have run out: those of the shards that were agreed
  // on last and of any others that exist. At least the first `most` are looked at.
  bool AllEnded(int most);
  // How many shards had a Lease at the last AllEnded.
  int Existing() const;
  bool Say(const AgreedCount& count);

  LeaseKeeper& keeper_;
  const std::string prefix_;
  const int shards_;
  ShardMemory* const memory_;
  Clock& clock_;
  WatchedLease record_;
  int last_agreed_ = 0;  // the last number that was read or that is assumed; 0: none
  bool looked_ = false;  // for what earlier owners have saved
  bool settled_ = false;
  std::vector<WatchedLease> others_;  // by shard, while another number is in force
  std::string waits_for_;             // what this replica waits for, as last logged
  int refused_moves_ = 0;             // how many times in a row the saved state could not be moved
};

}  // namespace flyball::scaler
