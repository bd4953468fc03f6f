// One replica's hold on a Lease: reads it, takes it, renews it and lets it go.
//
// Not thread-safe. Times are counted as election.h says: the time of a Lease of ours begins before
// the request that renewed it, that of another's after the answer that showed it.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/lease.h"
#include "scaler/shards/lease_store.h"

namespace flyball::scaler {

// A Lease whose record claims a longer duration counts as one of this: nobody may keep a Lease for
// ever by a typo.
inline constexpr absl::Duration kLongestLease = absl::Minutes(10);

struct LeaseTerms {
  std::string ns;
  std::string identity;  // ours
  absl::Duration lease_duration;
  absl::Duration renew_deadline;
};

// A Lease as last seen.
struct WatchedLease {
  kube::Lease lease;                                 // without resource version: it does not exist
  bool seen = false;                                 // it was read, or found missing, at least once
  MonotonicTime changed = absl::ZeroDuration();      // when we first saw this record
  bool held = false;                                 // by us, as far as we know
  MonotonicTime valid_until = absl::ZeroDuration();  // until then it is ours

  bool free() const { return lease.holder.empty(); }
};

class LeaseKeeper {
 public:
  // The store and the clock outlive it.
  LeaseKeeper(LeaseTerms terms, LeaseStore& store, Clock& clock);

  // A Lease of that name that was not read yet.
  WatchedLease Watch(std::string name) const;

  // False: it could not be read, and error() says why.
  bool Read(WatchedLease& watched);

  // Writes our name over the record that was last seen. OK: it is held from then on. Errors of
  // LeaseStore::Put.
  absl::Status Take(WatchedLease& watched);

  // Writes another holder over the record that was last seen. For Leases that say something and are
  // renewed by nobody. Errors of LeaseStore::Put.
  absl::Status Write(WatchedLease& watched, std::string holder);

  // Renews a Lease that is held, and makes it anew where somebody has deleted it. If it is not held
  // afterwards another replica has it, or it could not be renewed in time.
  void Renew(WatchedLease& watched);

  // Gives it up: others may take it at once, or, where that can't be written, when it has run out.
  void Release(WatchedLease& watched);

  // When its holder must have stopped writing, on our clock.
  MonotonicTime RunsOut(const WatchedLease& watched) const;
  // Whether somebody holds it and it has not run out.
  bool Lives(const WatchedLease& watched) const;

  // What failed last since Forget; OK: nothing.
  const absl::Status& error() const { return error_; }
  void ForgetError() { error_ = absl::OkStatus(); }
  void Note(const WatchedLease& watched, const absl::Status& status);

 private:
  kube::Lease NewLease(std::string name) const;
  void See(WatchedLease& watched, const kube::Lease& lease);

  const LeaseTerms terms_;
  LeaseStore& store_;
  Clock& clock_;
  absl::Status error_;
};

}  // namespace flyball::scaler
