#include "scaler/front/hosts/host_claims.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scaler/front/hosts/service_name.h"

namespace flyball::front {
namespace {

constexpr size_t kMostNamed = 5;  // how many refused places of one service a message names

bool Has(const std::vector<HostPlace>& places, const HostPlace& place) {
  return std::find(places.begin(), places.end(), place) != places.end();
}

bool HasHost(const std::vector<HostPlace>& places, absl::string_view host) {
  return std::any_of(places.begin(), places.end(),
                     [host](const HostPlace& place) { return place.host == host; });
}

bool IsWildcard(absl::string_view host) { return host.front() == '*'; }

class Granting {
 public:
  explicit Granting(const HostLimits& limits) : limits_(limits) {}

  // First step, for each claim from the oldest to the youngest: a service that had a host, with any
  // path and headers, keeps it if it asks for it.
  void KeepHosts(const HostClaim& claim) {
    for (const HostPlace& place : claim.routes.places) {
      if (HasHost(claim.had.places, place.host)) first_of_host_.try_emplace(place.host, &claim);
    }
  }

  // Second step, for each claim again: grants those places that it had. Then, for each claim once
  // more, those of the others that are free.
  void Claim(const HostClaim& claim, bool had) {
    HostRoutes& routes = grants_[claim.service].routes;
    const bool same_headers = claim.had.headers == claim.routes.headers;
    for (const HostPlace& place : claim.routes.places) {
      if (had != (same_headers && Has(claim.had.places, place))) continue;
      const std::string why = WhyNot(claim, place);
      if (!why.empty()) {
        Refuse(claim, place, why);
        continue;
      }
      owners_.try_emplace({place, claim.routes.headers}, &claim);
      first_of_host_.try_emplace(place.host, &claim);
      bytes_[NamespaceOf(claim.service)] += RouteBytes(place, claim.routes.headers);
      routes.places.push_back(place);
    }
    std::sort(routes.places.begin(), routes.places.end());
    if (!routes.empty()) routes.headers = claim.routes.headers;
  }

  // Third step, after all claims: sorts the hosts by their ends, so that those below a wildcard are
  // neighbours. Nothing is stored for each label, since a host may have more than a hundred.
  void SortHosts() {
    for (const auto& [host, first] : first_of_host_) {
      backwards_.emplace_back(host.rbegin(), host.rend());
    }
    std::sort(backwards_.begin(), backwards_.end());
  }

  // Fourth step, for each claim in the same order: refuses wildcards that would be repeated too
  // often.
  void LimitWildcards(const HostClaim& claim) {
    HostRoutes& routes = grants_[claim.service].routes;
    std::erase_if(routes.places, [&](const HostPlace& place) {
      if (!IsWildcard(place.host)) return false;
      const size_t below = HostsBelow(place.host);
      const size_t bytes = RouteBytes(place, claim.routes.headers) * below;
      size_t& sum = repeated_bytes_[NamespaceOf(claim.service)];
      if (sum + bytes > limits_.repeated_bytes) {
        Refuse(
            claim, place,
            absl::StrCat("would be repeated for ", below, " hosts, beyond the limit of ",
                         limits_.repeated_bytes, " bytes that the wildcards of a namespace have"));
        return true;
      }
      sum += bytes;
      return false;
    });
    if (routes.empty()) routes.headers.clear();
  }

  std::map<std::string, HostGrant> Take() {
    for (const auto& [service, count] : refused_) {
      if (count > kMostNamed) {
        absl::StrAppend(&grants_[service].refused, "; and ", count - kMostNamed, " more");
      }
    }
    return std::move(grants_);
  }

 private:
  std::string WhyNot(const HostClaim& claim, const HostPlace& place) const {
    if (const auto owner = owners_.find({place, claim.routes.headers}); owner != owners_.end()) {
      return absl::StrCat("is led to ", owner->second->service, ", which had it first");
    }
    const auto first = first_of_host_.find(place.host);
    if (!limits_.shared && first != first_of_host_.end() &&
        NamespaceOf(first->second->service) != NamespaceOf(claim.service)) {
      return absl::StrCat("is a host of namespace ", NamespaceOf(first->second->service),
                          ", whose ", first->second->service, " had it first");
    }
    const auto spent = bytes_.find(NamespaceOf(claim.service));
    if (RouteBytes(place, claim.routes.headers) + (spent == bytes_.end() ? 0 : spent->second) >
        limits_.bytes) {
      return absl::StrCat("is beyond the limit of ", limits_.bytes,
                          " bytes that the routes of a namespace have");
    }
    return "";
  }

  // `wildcard` is one of the hosts.
  size_t HostsBelow(const std::string& wildcard) const {
    const std::string end(wildcard.rbegin(), std::prev(wildcard.rend()));
    const auto first = std::lower_bound(backwards_.begin(), backwards_.end(), end);
    const auto last = std::partition_point(first, backwards_.end(), [&](const std::string& host) {
      return absl::StartsWith(host, end);
    });
    return static_cast<size_t>(last - first) - 1;  // without itself
  }

  void Refuse(const HostClaim& claim, const HostPlace& place, absl::string_view why) {
    if (++refused_[claim.service] > kMostNamed) return;
    std::string& text = grants_[claim.service].refused;
    absl::StrAppend(&text, text.empty() ? "" : "; ", TextOf(place, claim.routes.headers), " ", why);
  }

  const HostLimits& limits_;
  std::map<std::string, HostGrant> grants_;
  std::map<std::pair<HostPlace, std::vector<HeaderNeed>>, const HostClaim*> owners_;
  std::map<std::string, const HostClaim*> first_of_host_;
  std::vector<std::string> backwards_;                       // the hosts, "moc.elpmaxe.*", sorted
  absl::flat_hash_map<std::string, size_t> bytes_;           // by namespace
  absl::flat_hash_map<std::string, size_t> repeated_bytes_;  // by namespace
  absl::flat_hash_map<std::string, size_t> refused_;         // places of each service
};

}  // namespace

size_t RouteBytes(const HostPlace& place, const std::vector<HeaderNeed>& headers) {
  // It is there twice, since requests that may be repeated have a route of their own, which 80 more
  // bytes tell. 400 are for the service's name, which is that of the cluster, and the gate's
  // settings.
  size_t bytes = 400 + place.host.size() + place.path.size();
  for (const HeaderNeed& need : headers) {
    bytes += 24 + need.name.size() + need.value.value_or("").size();
  }
  return 2 * bytes + 80;
}

std::map<std::string, HostGrant> GrantHosts(std::vector<HostClaim> claims,
                                            const HostLimits& limits) {
  std::sort(claims.begin(), claims.end(), [](const HostClaim& a, const HostClaim& b) {
    return std::tie(a.created, a.service) < std::tie(b.created, b.service);
  });
  Granting granting(limits);
  for (const HostClaim& claim : claims) granting.KeepHosts(claim);
  for (const HostClaim& claim : claims) granting.Claim(claim, /*had=*/true);
  for (const HostClaim& claim : claims) granting.Claim(claim, /*had=*/false);
  granting.SortHosts();
  for (const HostClaim& claim : claims) granting.LimitWildcards(claim);
  return granting.Take();
}

}  // namespace flyball::front
