// coordination.k8s.io/v1 Lease: one holder at a time, by optimistic locking.
//
// Thread-safe if the client is. Times are wall times of the process that wrote them and must not be
// compared with ours: a lease has run out if its record has not changed for its duration on our own
// monotonic clock (as in k8s.io/client-go v0.34.4 leaderelection).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "kube/client/api_client.h"

namespace flyball::kube {

struct Lease {
  std::string ns;
  std::string name;
  std::string resource_version;  // "" when it does not exist yet
  std::string holder;            // "" is free
  absl::Duration duration;       // leaseDurationSeconds: whole seconds, at least one
  absl::Time acquire_time;       // to the microsecond; the Unix epoch is none
  absl::Time renew_time;
  int64_t transitions = 0;  // grows with each change of the holder: the fencing token
  std::string marks;        // labels and annotations, JSON, which stay as they are; "" is none

  friend bool operator==(const Lease&, const Lease&) = default;
};

// kNotFound when there is none; kInvalidArgument when the answer is no Lease.
absl::StatusOr<Lease> GetLease(ApiClient& client, absl::string_view ns, absl::string_view name);

// Creates the lease (resource_version "") or replaces the record that was read. kAborted,
// kAlreadyExists: another writer was faster, or the answer to an earlier call was lost. Returns the
// lease as stored. The fields of coordinated election that others set are not kept.
absl::StatusOr<Lease> PutLease(ApiClient& client, const Lease& lease);

}  // namespace flyball::kube
