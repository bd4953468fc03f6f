// The newest resource of each kind and service, which every Envoy is to have.
//
// Pure. Not thread-safe: its owner locks.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "scaler/front/resources.h"

namespace flyball::front {

struct VersionedResource {
  Resource resource;
  uint64_t version = 0;
};

class ResourceTable {
 public:
  using ByService = std::map<std::string, VersionedResource>;

  void Put(Resource resource, uint64_t version) {
    ByService& services = of_kind_[static_cast<int>(KindOf(resource))];
    std::string service = ServiceOf(resource);
    services[std::move(service)] = {.resource = std::move(resource), .version = version};
  }
  void Remove(ResourceKind kind, const std::string& service) {
    of_kind_[static_cast<int>(kind)].erase(service);
    kept_.erase(service);
  }

  // What Envoys have of the service from an earlier process stays until it is put or removed.
  void Keep(const std::string& service) { kept_.insert(service); }
  bool IsKept(const std::string& service) const { return kept_.contains(service); }

  const ByService& Of(ResourceKind kind) const { return of_kind_[static_cast<int>(kind)]; }
  // Null where there is none.
  const VersionedResource* Find(ResourceKind kind, const std::string& service) const {
    const auto found = Of(kind).find(service);
    return found == Of(kind).end() ? nullptr : &found->second;
  }

 private:
  std::array<ByService, kResourceKinds> of_kind_;
  std::set<std::string> kept_;
};

}  // namespace flyball::front
