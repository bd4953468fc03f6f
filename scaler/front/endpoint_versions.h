// Since which version of a service's endpoints each pod has been among them without a break.
//
// Pure. Not thread-safe. An Envoy that has this version or a later one can reach the pod: what it
// skipped in between does not matter.
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
  // These pods from this version on. `addresses` is sorted.
  void Set(const std::vector<std::string>& addresses, uint64_t version) {
    std::erase_if(since_, [&](const auto& each) {
      return !std::binary_search(addresses.begin(), addresses.end(), each.first);
    });
    for (const std::string& address : addresses) since_.emplace(address, version);
  }

  // From this version on an Envoy has one of the pods at least; the greatest number if there is
  // none.
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
