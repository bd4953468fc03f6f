// For each pod, the version of the service's endpoints since which they always contained it.
//
// Pure. Not thread-safe. An Envoy that has this version or a later one can reach the pod, whichever
// versions it skipped in between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace flyball::front {

class EndpointVersions {
 public:
  // These are the endpoints from this version on. `addresses` is sorted.
  void Set(const std::vector<std::string>& addresses, uint64_t version) {
    std::erase_if(since_, [&](const auto& each) {
      return !std::binary_search(addresses.begin(), addresses.end(), each.first);
    });
    for (const std::string& address : addresses) since_.emplace(address, version);
  }

  // The version from which on an Envoy has at least one of the pods; kNever if there are none.
  uint64_t ServableFrom() const {
    uint64_t first = kNever;
    for (const auto& [address, version] : since_) first = std::min(first, version);
    return first;
  }

  uint64_t Since(const std::string& address) const {
    const auto found = since_.find(address);
    return found == since_.end() ? kNever : found->second;
  }

 private:
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  std::map<std::string, uint64_t> since_;
};

}  // namespace flyball::front
