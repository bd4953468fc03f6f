#include "scaler/shards/lease_store.h"

#include <utility>

namespace flyball::scaler {
namespace {

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

}  // namespace

std::unique_ptr<LeaseStore> MakeLeaseStore(kube::ApiClient& client, std::string ns) {
  return std::make_unique<ApiLeaseStore>(client, std::move(ns));
}

}  // namespace flyball::scaler
