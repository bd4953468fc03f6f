#include "scaler/front/hosts/host_claims.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace flyball::front {

std::map<std::string, HostGrant> GrantHosts(std::vector<HostClaim> claims) {
  std::sort(claims.begin(), claims.end(), [](const HostClaim& a, const HostClaim& b) {
    return std::tie(a.created, a.service) < std::tie(b.created, b.service);
  });
  std::map<std::pair<HostPlace, std::vector<HeaderNeed>>, const HostClaim*> owners;
  std::map<std::string, HostGrant> grants;
  for (const HostClaim& claim : claims) {
    HostGrant& grant = grants[claim.service];
    for (const HostPlace& place : claim.routes.places) {
      const auto [owner, fresh] = owners.try_emplace({place, claim.routes.headers}, &claim);
      if (fresh) {
        grant.routes.places.push_back(place);
        continue;
      }
      absl::StrAppend(&grant.refused, grant.refused.empty() ? "" : "; ",
                      TextOf(place, claim.routes.headers), " is led to ", owner->second->service,
                      ", which is older");
    }
    if (!grant.routes.empty()) grant.routes.headers = claim.routes.headers;
  }
  return grants;
}

}  // namespace flyball::front
