#include "scaler/front/publisher.h"

#include <utility>

namespace flyball::front {

bool Publisher::Put(Resource resource, Turn& turn) {
  const ResourceKind kind = KindOf(resource);
  std::optional<Resource>& told = told_[static_cast<size_t>(kind)];
  if (told == resource) return false;
  told = resource;
  acks_.Sent(kind, ++version_, turn.now);
  turn.effects.push_back(PutResource{std::move(resource), version_});
  return true;
}

// A service that loses its hosts keeps a route without hosts. So Envoys acknowledge the change, and
// none still carries requests past the gate when the service goes to zero.
bool Publisher::PutHosts(const HttpService& spec, bool gated, Turn& turn) {
  const bool had = told_[static_cast<size_t>(ResourceKind::kHostRoute)].has_value();
  if (!spec.hosts.empty()) {
    return Put(
        HostRouteResource{spec.name, spec.hosts, gated, spec.hard_limit(), spec.request_timeout},
        turn);
  }
  return had && Put(HostRouteResource{.service = spec.name, .routes = {}}, turn);
}

bool Publisher::Publish(const HttpService& spec, bool gated,
                        const std::vector<std::string>& endpoints, Turn& turn) {
  const bool hard = spec.hard_limit();
  const RouteResource route{spec.name, gated, hard, spec.request_timeout};
  Put(ClusterResource{spec.name, spec.h2c, hard, spec.request_timeout}, turn);
  bool changed = gated && Put(route, turn);
  if (gated) changed |= PutHosts(spec, gated, turn);
  if (Put(EndpointsResource{spec.name, endpoints}, turn)) endpoints_.Set(endpoints, version_);
  changed |= !gated && Put(route, turn);
  if (!gated) changed |= PutHosts(spec, gated, turn);
  Put(ListenerResource{spec.name, spec.port}, turn);
  return changed;
}

void Publisher::Remove(const std::string& service, Turn& turn) {
  for (const ResourceKind kind :
       {ResourceKind::kListener, ResourceKind::kHostRoute, ResourceKind::kRoute,
        ResourceKind::kCluster, ResourceKind::kEndpoints}) {
    if (!told_[static_cast<size_t>(kind)].has_value()) continue;
    turn.effects.push_back(RemoveResource{kind, service});
  }
  told_ = {};
}

bool Publisher::gated() const {
  const auto& route = told_[static_cast<size_t>(ResourceKind::kRoute)];
  return route.has_value() && std::get<RouteResource>(*route).gated;
}

bool Publisher::CanServe(const NodeId& node) const {
  return acks_.VersionAt(node, ResourceKind::kEndpoints) >= endpoints_.ServableFrom();
}

bool Publisher::Reaches(const NodeId& node, const std::string& address) const {
  return acks_.VersionAt(node, ResourceKind::kEndpoints) >= endpoints_.Since(address);
}

bool Publisher::AllCanServe() const {
  return acks_.AllHave(ResourceKind::kEndpoints, endpoints_.ServableFrom());
}

}  // namespace flyball::front
