#include "scaler/front/envoy/hosts_stream.h"

#include <algorithm>

#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {

void HostsStream::End() {
  begun_ = all_due_ = false;
  due_.clear();
  still_gated_.clear();
}

void HostsStream::OnChange(const std::string& service) {
  if (begun_ && !left_out_.contains(service)) due_.insert(service);
}

void HostsStream::LeaveOut(const std::string& service) {
  if (table_.Find(ResourceKind::kHostRoute, service) != nullptr) OnChange(service);
  left_out_.insert(service);
}

void HostsStream::Readmit(const std::string& service) {
  if (left_out_.erase(service) == 0) return;
  if (table_.Find(ResourceKind::kHostRoute, service) != nullptr) OnChange(service);
}

bool HostsStream::MustBeSent() const {
  if (all_due_) return true;
  return std::any_of(due_.begin(), due_.end(), [&](const std::string& service) {
    const VersionedResource* const found = table_.Find(ResourceKind::kHostRoute, service);
    return found == nullptr || std::get<HostRouteResource>(found->resource).gated;
  });
}

bool HostsStream::MayBeSent(Lacks lacks) const {
  if (!due_.empty()) return true;
  // The second step is sent once for all services, since each step sends a whole table.
  return !still_gated_.empty() &&
         std::none_of(still_gated_.begin(), still_gated_.end(),
                      [&](const std::string& service) { return lacks(service); });
}

envoy::RouteConfiguration HostsStream::Take(
    Lacks lacks, absl::string_view node, std::vector<std::pair<std::string, uint64_t>>& versions) {
  std::vector<const HostRouteResource*> routes;
  still_gated_.clear();
  for (const auto& [service, each] : table_.Of(ResourceKind::kHostRoute)) {
    if (left_out_.contains(service)) continue;
    const auto& route = std::get<HostRouteResource>(each.resource);
    routes.push_back(&route);
    if (!route.gated && lacks(service)) still_gated_.insert(service);
    versions.emplace_back(service, each.version);
  }
  all_due_ = false;
  due_.clear();
  ++unanswered_;
  return HostsMessage(routes, still_gated_, node);
}

}  // namespace flyball::front
