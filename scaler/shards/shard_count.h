// Agrees with the other replicas on how many shards the work is divided into: with two numbers at
// once a namespace would have two owners.
//
// The Lease `PREFIX-shards` says the number. Its holder is "8", or "8->16" while 16 takes the place
// of 8; "" or no Lease: no number was agreed on yet.
//   * A replica takes no shard unless the Lease says its own number, and looks again after it has
//     taken one and before it decides anything in it.
//   * Whoever has another number waits until each Lease of a shard is free or has run out. Then it
//     announces its number, looks at all Leases once more, has moved what is remembered, and says
//     that it is done.
//   * An owner that finds another number hands its shards over.
// When one replica takes a shard while another announces a number, at least one of the two sees
// what the other did, since each writes first and looks afterwards.
//
// Not thread-safe: the election's thread alone uses it. A round costs one request; while another
// number is in force it costs one more for each shard of that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "scaler/shards/lease_keeper.h"

namespace flyball::scaler {

// What the Lease says. Pure.
struct AgreedCount {
  int shards = 0;                     // 0: nothing was agreed on
  std::optional<int> announced = {};  // the number that is about to take its place

  // From a text that says neither: nothing was agreed on.
  static AgreedCount Parse(absl::string_view holder);
  std::string ToString() const;
};

class ShardMemory;

class ShardCount {
 public:
  enum class State {
    kOurs,     // shards may be taken
    kOther,    // they may not; those that are held are to be handed over
    kUnknown,  // the Lease can't be read
  };

  // The keeper and the memory outlive it; `memory` may be nullptr.
  ShardCount(LeaseKeeper& keeper, std::string prefix, int shards, ShardMemory* memory,
             Clock& clock);

  // Reads the Lease, and changes it where nobody goes by another number any more.
  State Round();
  // Reads the Lease now. Whether it still says our number.
  bool Confirm();

  // Grows with each change of the number. Of two records of what is remembered the one with the
  // higher term is of the later division.
  int64_t term() const { return record_.lease.transitions; }
  // Whether the last round made our number the one that all go by, and the Lease of that shard, as
  // it is now, was free or had run out then: it has no owner, unless another replica took it since.
  bool SawEnded(size_t shard, const WatchedLease& now) const {
    return settled_ && shard < others_.size() &&
           others_[shard].lease.resource_version == now.lease.resource_version;
  }

 private:
  std::string LeaseOf(size_t shard) const;
  bool SaysOurs() const;
  // Whether the Leases of all shards are free or have run out: those of the `before` shards that
  // were agreed on, and of any others that exist. At least the first `most` are looked at.
  bool AllEnded(int before, int most);
  bool Say(const AgreedCount& count);

  LeaseKeeper& keeper_;
  const std::string prefix_;
  const int shards_;
  ShardMemory* const memory_;
  Clock& clock_;
  WatchedLease record_;
  bool settled_ = false;
  std::vector<WatchedLease> others_;  // by shard, while another number is waited for
  std::string waits_for_;             // what keeps this replica from its work, as last logged
};

}  // namespace flyball::scaler
