// One replica's hold on a Lease: reads it, takes it, renews it and releases it.
//
// Not thread-safe. As election.h explains, a Lease of ours counts from before the request that
// renewed it, another replica's from after the answer that showed it.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/lease.h"
#include "scaler/shards/lease_store.h"

namespace flyball::scaler {

// A longer duration in a record is cut to this one, so that a typo cannot keep a Lease for ever.
inline constexpr absl::Duration kLongestLease = absl::Minutes(10);

// The duration in the record of a Lease that its holder has given up; client-go writes the same.
inline constexpr absl::Duration kGivenUp = absl::Seconds(1);

struct LeaseTerms {
  std::string ns;
  std::string identity;  // ours
  absl::Duration lease_duration;
  absl::Duration renew_deadline;
};

// A Lease as last seen.
struct WatchedLease {
  kube::Lease lease;                                 // no resource version: it does not exist
  bool seen = false;                                 // false: whatever is read next is a new record
  MonotonicTime changed = absl::ZeroDuration();      // when we first saw this record
  bool held = false;                                 // by us, as far as we know
  MonotonicTime valid_until = absl::ZeroDuration();  // until then it is ours
  // When we acquired it, by the record of our last try to take it, whose answer may have got lost.
  // None once it was seen with another holder, or none.
  std::optional<absl::Time> acquired;

  bool missing() const { return lease.resource_version.empty(); }
  bool free() const { return lease.holder.empty(); }
  // Nobody is named as its holder, but none has given it up either: somebody has emptied the record
  // (kubectl replace, kubectl patch), and its holder may still count it as held.
  bool emptied() const { return !missing() && free() && lease.duration != kGivenUp; }
};

class LeaseKeeper {
 public:
  // The store and the clock outlive the keeper.
  LeaseKeeper(LeaseTerms terms, LeaseStore& store, Clock& clock);

  // A Lease of that name, not read yet.
  WatchedLease Watch(std::string name) const;

  // False: it could not be read, and error() says why.
  bool Read(WatchedLease& watched);

  // Whether the record that was last seen names us and is our own. Anybody can write our name into
  // the record of a replica that goes on until it notices.
  bool IsOurs(const WatchedLease& watched) const;

  // Replaces the record that was last seen by one with our identity. OK: we hold it from then on.
  // Errors are those of LeaseStore::Put.
  absl::Status Take(WatchedLease& watched);

  // Replaces the record that was last seen by one with that holder. For Leases whose holder is a
  // message and which nobody renews. Errors are those of LeaseStore::Put.
  absl::Status Write(WatchedLease& watched, std::string holder);

  // Makes a Lease that is missing, with no holder but not given up either, unless it exists by now.
  // If its owner takes it again, that can then be seen even if somebody deletes it once more.
  void MakeEmptied(WatchedLease& watched);

  // Renews a Lease that we hold, and takes it again if somebody has deleted or emptied it. If it is
  // not held afterwards, another replica has it, or the renewal came too late.
  void Renew(WatchedLease& watched);

  // Gives the Lease up: others may take it at once or, if that cannot be written, once it has run
  // out.
  void Release(WatchedLease& watched);

  // When, on our clock, the Lease runs out: its holder must have stopped writing by then.
  MonotonicTime RunsOut(const WatchedLease& watched) const;
  // Whether somebody holds it and it has not run out.
  bool Lives(const WatchedLease& watched) const;

  // The last failure since ForgetError; OK: there was none.
  const absl::Status& error() const { return error_; }
  void ForgetError() { error_ = absl::OkStatus(); }
  void Note(const WatchedLease& watched, const absl::Status& status);

 private:
  kube::Lease NewLease(std::string name) const;
  void See(WatchedLease& watched, const kube::Lease& lease);
  absl::Status Put(const kube::Lease& lease, WatchedLease& watched);

  const LeaseTerms terms_;
  LeaseStore& store_;
  Clock& clock_;
  absl::Status error_;
};

}  // namespace flyball::scaler
