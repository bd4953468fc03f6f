// The part of the keeper that assigns hosts: several Autoscalers may ask for the same one.

#include <nlohmann/json.hpp>
#include <utility>

#include "base/status_macros.h"
#include "serve/front/serve_front.h"

namespace flyball::serve {

using nlohmann::json;

void ServeFront::GrantHosts() {
  std::vector<std::pair<std::string, std::string>> news;  // service, what is refused
  {
    absl::MutexLock lock(&mutex_);
    if (!std::exchange(hosts_changed_, false)) return;
    std::map<std::string, front::HostGrant> grants =
        front::GrantHosts(HostClaims(), settings_.hosts);
    for (auto& [name, record] : records_) {
      // It may be carried again in a moment, with the same hosts, or is not decided yet.
      if (record.claim == 0 || record.created == absl::InfiniteFuture()) continue;
      const auto granted = grants.find(name);
      front::HostGrant grant =
          granted == grants.end() ? front::HostGrant() : std::move(granted->second);
      if (grant.refused != record.hosts.refused) news.emplace_back(name, grant.refused);
      record.changed |= grant.routes != record.hosts.routes || grant.routes != Had(name);
      record.hosts = std::move(grant);
      record.granted = true;
    }
  }
  for (const auto& [name, refused] : news) TellOfHosts(name, refused);
}

// The hosts of a service that is not known yet after the start, or that may be carried again in a
// moment, are not given to others.
std::vector<front::HostClaim> ServeFront::HostClaims() const {
  std::vector<front::HostClaim> claims;
  std::set<std::string> asked;
  for (const auto& [name, record] : records_) {
    if (record.claim == 0) {
      claims.push_back({name, record.created, record.hosts.routes, Had(name)});
    } else if (record.created < absl::InfiniteFuture()) {
      claims.push_back({name, record.created, record.service.http.hosts, Had(name)});
    } else {
      continue;
    }
    asked.insert(name);
  }
  for (const auto& [name, had] : had_hosts_) {
    const bool may_come = !serving_ || records_.contains(name) || expected_.contains(name);
    if (may_come && !asked.contains(name)) claims.push_back({name, absl::InfinitePast(), had, had});
  }
  return claims;
}

front::HostRoutes ServeFront::Had(const std::string& name) const {
  const auto had = had_hosts_.find(name);
  return had == had_hosts_.end() ? front::HostRoutes() : had->second;
}

absl::Status ServeFront::PatchHosts(const std::string& name, const front::HostRoutes& routes) {
  json http = {{"hosts", nullptr}, {"headers", nullptr}};
  if (!routes.empty()) http["hosts"] = front::TextsOf(routes.places);
  if (!routes.headers.empty()) http["headers"] = front::TextsOf(routes.headers);
  return PatchHttp(name, "hosts", http.dump());
}

// Hosts are written into the status before any Envoy leads them to the service, so that no other
// service takes them after a restart. Nothing is decided until all services are known; hosts that
// are written soon after that may already be in use.
absl::Status ServeFront::WriteHosts(const std::string& name) {
  front::HostRoutes routes;
  bool anew = false;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    // One that was decided since they were granted last keeps those that it had, until the next
    // pass.
    if (found == records_.end() || found->second.claim == 0 || !found->second.granted) {
      return absl::OkStatus();
    }
    routes = found->second.hosts.routes;
    anew = found->second.WasMadeAnew();
  }
  if (!serving_ || (routes == Had(name) && !anew)) return absl::OkStatus();
  RETURN_IF_ERROR(PatchHosts(name, routes));
  had_hosts_[name] = std::move(routes);
  return absl::OkStatus();
}

// Removes the hosts of services that are no longer carried, which could otherwise take them from
// others later. False: not all could be written.
bool ServeFront::ForgetHosts() {
  if (!serving_) return true;
  std::vector<std::string> gone;
  {
    absl::MutexLock lock(&mutex_);
    for (const auto& [name, had] : had_hosts_) {
      if (!records_.contains(name) && !expected_.contains(name)) gone.push_back(name);
    }
  }
  bool all = true;
  for (const std::string& name : gone) {
    const absl::Status stored = PatchHosts(name, front::HostRoutes());
    if (stored.ok() || absl::IsNotFound(stored)) {
      had_hosts_.erase(name);
    } else {
      all = false;
    }
  }
  return all;
}

void ServeFront::TellOfHosts(const std::string& name, const std::string& refused) {
  if (!refused.empty()) Warn(name, "HostsTaken", refused);
  Change(name);  // its condition
}

}  // namespace flyball::serve
