// Where the Leases of an election are kept.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kube/client/api_client.h"
#include "kube/client/lease.h"

namespace flyball::scaler {

// Errors are those of kube::GetLease and kube::PutLease.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  virtual absl::StatusOr<kube::Lease> Get(absl::string_view name) = 0;
  virtual absl::StatusOr<kube::Lease> Put(const kube::Lease& lease) = 0;
};

// The Leases of a cluster. The client outlives the store; a call of the client must not take much
// longer than the retry period of the election.
std::unique_ptr<LeaseStore> MakeLeaseStore(kube::ApiClient& client, std::string ns);

}  // namespace flyball::scaler
