// The part of the keeper that assigns hosts: several Autoscalers may ask for the same one.
#include <spdlog/spdlog.h>

#include <utility>

#include "serve/front/serve_front.h"

namespace flyball::serve {

void ServeFront::GrantHosts() {
  std::vector<std::pair<std::string, std::string>> news;  // service, what is refused
  {
    absl::MutexLock lock(&mutex_);
    if (!std::exchange(hosts_changed_, false)) return;
    std::vector<front::HostClaim> claims;
    for (const auto& [name, record] : records_) {
      const bool known = record.created < absl::InfiniteFuture();
      if (!known || record.claim == 0 || record.service.http.hosts.empty()) continue;
      claims.push_back({name, record.created, record.service.http.hosts});
    }
    std::map<std::string, front::HostGrant> grants =
        front::GrantHosts(std::move(claims), settings_.hosts);
    for (auto& [name, record] : records_) {
      if (record.claim == 0) continue;  // it may be carried anew in a moment, with the same hosts
      const auto granted = grants.find(name);
      front::HostGrant grant =
          granted == grants.end() ? front::HostGrant() : std::move(granted->second);
      if (grant.refused != record.hosts.refused) news.emplace_back(name, grant.refused);
      record.changed |= grant.routes != record.hosts.routes;
      record.hosts = std::move(grant);
    }
  }
  for (const auto& [name, refused] : news) TellOfHosts(name, refused);
}

void ServeFront::TellOfHosts(const std::string& name, const std::string& refused) {
  kube::EventSubject subject;
  {
    absl::MutexLock lock(&mutex_);
    const auto found = records_.find(name);
    if (found == records_.end()) return;
    subject = found->second.subject;
  }
  if (!refused.empty()) {
    spdlog::warn("front: {}: HostsTaken: {}", name, refused);
    if (!subject.name.empty()) {
      events_->Record(subject, /*warning=*/true, "HostsTaken", refused);
    }
  }
  Change(name);  // its condition
}

}  // namespace flyball::serve
