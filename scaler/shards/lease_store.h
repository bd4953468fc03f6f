// Where the Leases of an election are kept.
#pragma once

#include <string>
#include <utility>

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
class ApiLeaseStore : public LeaseStore {
 public:
  ApiLeaseStore(kube::ApiClient& client, std::string ns) : client_(client), ns_(std::move(ns)) {}
  absl::StatusOr<kube::Lease> Get(absl::string_view name) override {
    return kube::GetLease(client_, ns_, name);
  }
  absl::StatusOr<kube::Lease> Put(const kube::Lease& lease) override {
    return kube::PutLease(client_, lease);
  }

 private:
  kube::ApiClient& client_;
  const std::string ns_;
};

}  // namespace flyball::scaler
