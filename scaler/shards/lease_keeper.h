// One replica's hold on a Lease: reads it, takes it, renews it and lets it go.
//
// The times are those of election.h: what is ours counts from before the request that renewed it,
// what is another's from after the answer that showed it. Of one thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "kube/client/lease.h"
#include "scaler/shards/lease_store.h"

namespace flyball::scaler {

// A record that claims more is taken for this: nobody may keep a Lease for ever by a typo.
inline constexpr absl::Duration kLongestLease = absl::Minutes(10);

struct LeaseTerms {
  std::string ns;
  std::string identity;  // ours
  absl::Duration lease_duration;
  absl::Duration renew_deadline;
};

// A Lease as last seen.
struct WatchedLease {
  kube::Lease lease;                             // with name; no version: it does not exist
  bool seen = false;                             // it was read, or found missing, at least once
  MonotonicTime changed = absl::ZeroDuration();  // when we first saw this record
  bool held = false;                             // by us, as far as we know
  MonotonicTime valid_until = absl::ZeroDuration();

  bool free() const { return lease.holder.empty(); }
};

class LeaseKeeper {
 public:
  // The store and the clock outlive it.
  LeaseKeeper(LeaseTerms terms, LeaseStore& store, Clock& clock);

  // One of that name that was not read yet.
  WatchedLease Watch(std::string name) const;

  // False: it could not be read, and error() says why.
  bool Read(WatchedLease& watched);

  // Writes our name over the record that was last seen. OK: it is held from then on. Errors of
  // LeaseStore::Put.
  absl::Status Take(WatchedLease& watched);

  // Writes another holder over the record that was last seen; it is nobody's to renew. Errors of
  // LeaseStore::Put.
  absl::Status Write(WatchedLease& watched, std::string holder);

  // Renews one that is held, and makes it anew where somebody has deleted it. Not held any more
  // after it: another one has it, or it could not be renewed in time.
  void Renew(WatchedLease& watched);

  // Whoever wants it may have it at once; where that can't be written, when it has run out.
  void Release(WatchedLease& watched);

  // Our own view of when its holder must have stopped.
  MonotonicTime RunsOut(const WatchedLease& watched) const;
  // Somebody holds it, and it has not run out.
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
