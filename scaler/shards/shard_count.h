// Into how many shards the work is divided: all replicas have to go by the same number, as with two
// at once a namespace would have two owners.
//
// The Lease `PREFIX-shards` says the number. Its holder is "8", or "8->16" while 16 takes the place
// of 8; "" or no Lease: no number was agreed on yet.
//   * A replica takes no shard unless the Lease says its own number, and looks again after it has
//     taken one and before it decides anything in it.
//   * Whoever has another number waits until each Lease of a shard is free or has run out. Then it
//     announces its number, looks at all Leases once more, has moved what is remembered, and says
//     that it is done.
//   * An owner that finds another number hands its shards over.
// Of a shard that is taken and a number that is announced at the same time, one of the two sees the
// other: each writes first and looks then.
//
// Of the election's thread. A round costs one request; as long as another number holds one more for
// each of its shards.
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
  std::optional<int> announced = {};  // takes its place

  // Of a text that says neither: nothing was agreed on.
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
  // Whether the Lease still says ours, looked at now.
  bool Confirm();

  // Grows with each change of the number: of two records the one with the higher term is of a later
  // division.
  int64_t term() const { return record_.lease.transitions; }
  // Whether the last round made our number the one that all go by: no shard has an owner yet.
  bool settled() const { return settled_; }

 private:
  std::string LeaseOf(size_t shard) const;
  bool SaysOurs() const;
  // Whether each Lease of a shard is free or has run out: of the `before` that were agreed on, and
  // of any others, which are `most` at least.
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
