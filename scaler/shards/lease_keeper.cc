#include "scaler/shards/lease_keeper.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace flyball::scaler {
namespace {

// By it those can be found that a removed installation leaves.
constexpr char kMarks[] = R"({"labels":{"app.kubernetes.io/managed-by":"flyball"}})";

}  // namespace

LeaseKeeper::LeaseKeeper(LeaseTerms terms, LeaseStore& store, Clock& clock)
    : terms_(std::move(terms)), store_(store), clock_(clock) {}

WatchedLease LeaseKeeper::Watch(std::string name) const {
  WatchedLease watched;
  watched.lease = NewLease(std::move(name));
  return watched;
}

kube::Lease LeaseKeeper::NewLease(std::string name) const {
  kube::Lease lease;
  lease.ns = terms_.ns;
  lease.name = std::move(name);
  lease.marks = kMarks;
  return lease;
}

void LeaseKeeper::Note(const WatchedLease& watched, const absl::Status& status) {
  error_ =
      absl::Status(status.code(), absl::StrCat("lease ", watched.lease.ns, "/", watched.lease.name,
                                               ": ", std::string(status.message())));
}

// Takes over the record that was read. A new one counts from after the answer, later than for its
// writer.
void LeaseKeeper::See(WatchedLease& watched, const kube::Lease& lease) {
  if (!watched.seen || lease != watched.lease) watched.changed = clock_.MonotonicNow();
  watched.seen = true;
  watched.lease = lease;
  if (lease.holder != terms_.identity) watched.acquired.reset();
}

absl::Status LeaseKeeper::Put(const kube::Lease& lease, WatchedLease& watched) {
  ASSIGN_OR_RETURN(const kube::Lease stored, store_.Put(lease));
  See(watched, stored);
  return absl::OkStatus();
}

bool LeaseKeeper::Read(WatchedLease& watched) {
  const absl::StatusOr<kube::Lease> lease = store_.Get(watched.lease.name);
  if (lease.ok()) {
    See(watched, *lease);
    return true;
  }
  if (absl::IsNotFound(lease.status())) {
    See(watched, NewLease(watched.lease.name));
    return true;
  }
  Note(watched, lease.status());
  return false;
}

bool LeaseKeeper::IsOurs(const WatchedLease& watched) const {
  return watched.lease.holder == terms_.identity && watched.acquired == watched.lease.acquire_time;
}

absl::Status LeaseKeeper::Take(WatchedLease& watched) {
  kube::Lease lease = watched.lease;
  if (!IsOurs(watched)) {
    lease.holder = terms_.identity;
    // In whole microseconds, as it is stored, since it is compared with what is read.
    lease.acquire_time = absl::FromUnixMicros(absl::ToUnixMicros(clock_.WallNow()));
    if (!watched.missing()) ++lease.transitions;
  }
  watched.acquired = lease.acquire_time;
  lease.renew_time = clock_.WallNow();
  lease.duration = terms_.lease_duration;
  const MonotonicTime start = clock_.MonotonicNow();
  RETURN_IF_ERROR(Put(lease, watched));
  watched.held = true;
  watched.valid_until = start + terms_.renew_deadline;
  return absl::OkStatus();
}

void LeaseKeeper::MakeEmptied(WatchedLease& watched) {
  kube::Lease lease = NewLease(watched.lease.name);
  lease.renew_time = clock_.WallNow();
  lease.duration = terms_.lease_duration;
  const absl::Status status = Put(lease, watched);
  // It exists by now, so if it is found missing once more, somebody has deleted it anew.
  if (absl::IsAlreadyExists(status)) {
    watched.seen = false;
  } else if (!status.ok()) {
    Note(watched, status);
  }
}

void LeaseKeeper::Renew(WatchedLease& watched) {
  absl::Status status = Take(watched);
  if (absl::IsAborted(status) || absl::IsNotFound(status) || absl::IsAlreadyExists(status)) {
    // An earlier answer may have got lost, or somebody else has it.
    if (Read(watched)) {
      const bool lost = watched.missing() || watched.emptied();
      if (watched.lease.holder != terms_.identity && !lost) {
        watched.held = false;
        return;
      }
      status = Take(watched);
    }
  }
  if (!status.ok()) Note(watched, status);
  if (clock_.MonotonicNow() >= watched.valid_until) watched.held = false;
}

void LeaseKeeper::Release(WatchedLease& watched) {
  kube::Lease lease = watched.lease;
  lease.holder.clear();
  lease.duration = kGivenUp;
  lease.renew_time = clock_.WallNow();
  watched.held = false;
  if (const absl::Status status = Put(lease, watched); !status.ok()) {
    spdlog::warn("lease {}/{}: cannot be released, it will run out: {}", lease.ns, lease.name,
                 std::string(status.message()));
  }
}

absl::Status LeaseKeeper::Write(WatchedLease& watched, std::string holder) {
  kube::Lease lease = watched.lease;
  lease.holder = std::move(holder);
  lease.acquire_time = lease.renew_time = clock_.WallNow();
  lease.duration = terms_.lease_duration;
  if (!watched.missing()) ++lease.transitions;
  return Put(lease, watched);
}

MonotonicTime LeaseKeeper::RunsOut(const WatchedLease& watched) const {
  const absl::Duration own = terms_.lease_duration;
  return watched.changed + std::clamp(watched.lease.duration, own, std::max(own, kLongestLease));
}

bool LeaseKeeper::Lives(const WatchedLease& watched) const {
  return !watched.free() && clock_.MonotonicNow() < RunsOut(watched);
}

}  // namespace flyball::scaler
