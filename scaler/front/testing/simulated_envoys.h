// Envoys and their transport without gRPC: what they are sent arrives late, is refused now and
// then, and stays there when a stream or our process ends. For tests alone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scaler/front/data_path.h"

namespace flyball::front {

using ResourceName = std::pair<std::string, ResourceKind>;

// The order in which one service's resources are sent to an Envoy: the lowest rank goes first.
inline int SendRank(const Resource& resource) {
  const auto* const route = std::get_if<RouteResource>(&resource);
  const auto* const hosts = std::get_if<HostRouteResource>(&resource);
  const bool gated = (route != nullptr && route->gated) || (hosts != nullptr && hosts->gated);
  return gated ? -1 : static_cast<int>(resource.index());
}

struct SimulatedEnvoy {
  struct Versioned {
    Resource resource;
    uint64_t version = 0;
  };
  NodeId node;
  bool connected = false;
  uint64_t stream = 0;  // counts its streams
  bool silent = false;  // it sends no reports of load
  bool stale = false;   // not everything has arrived since it connected again
  std::set<ResourceName> refused;
  std::map<ResourceName, Versioned> applied;  // kept when a stream ends
  std::deque<ResourceName> inbox;             // resources on their way, newest versions, in order
  std::deque<std::pair<ResourceName, uint64_t>> unacknowledged;

  template <typename R>
  const R* Find(const std::string& service, ResourceKind kind) const {
    const auto found = applied.find({service, kind});
    return found == applied.end() ? nullptr : &std::get<R>(found->second.resource);
  }
  bool Gated(const std::string& service) const {
    const auto* const route = Find<RouteResource>(service, ResourceKind::kRoute);
    return route == nullptr || route->gated;
  }
  // Does the same for requests that come by hosts; nullopt: none are led to the service.
  std::optional<bool> HostsGated(const std::string& service) const {
    const auto* const route = Find<HostRouteResource>(service, ResourceKind::kHostRoute);
    if (route == nullptr || route->routes.empty()) return std::nullopt;
    return route->gated;
  }
  std::vector<std::string> Endpoints(const std::string& service) const {
    const auto* const found = Find<EndpointsResource>(service, ResourceKind::kEndpoints);
    return found == nullptr ? std::vector<std::string>{} : found->addresses;
  }
};

// The resources that one process of ours has sent, until it ends.
class SimulatedTransport : public DataPath {
 public:
  explicit SimulatedTransport(std::map<NodeId, SimulatedEnvoy>& envoys) : envoys_(envoys) {}

  void Put(Resource resource, uint64_t version) override {
    const ResourceName name(ServiceOf(resource), KindOf(resource));
    newest_[name] = {std::move(resource), version};
    std::erase(order_, name);
    order_.push_back(name);
    if (!serving_) return;
    for (auto& [node, envoy] : envoys_) {
      if (envoy.connected) Enqueue(envoy, name);
    }
  }
  void Remove(ResourceKind kind, const std::string& service) override {
    newest_.erase({service, kind});
    std::erase(order_, ResourceName(service, kind));
  }
  void BeginServing(const std::vector<std::string>& /*kept*/) override {
    serving_ = true;
    for (auto& [node, envoy] : envoys_) SendAll(envoy);
  }
  void Release(RequestId id, std::optional<std::string> pod) override {
    answers.push_back({id, std::move(pod), std::nullopt});
  }
  void Refuse(RequestId id, const Refusal& refusal) override {
    answers.push_back({id, std::nullopt, refusal});
  }

  // A stream begins: what differs is sent, the rest is acknowledged without being sent.
  void SendAll(SimulatedEnvoy& envoy) {
    envoy.inbox.clear();
    envoy.unacknowledged.clear();
    if (!serving_ || !envoy.connected) return;
    // Routes of hosts are one resource, and the listener for them is known as a whole: whatever is
    // no longer in either is removed by the first message.
    std::erase_if(envoy.applied, [this](const auto& each) {
      return each.first.second == ResourceKind::kHostRoute && !newest_.contains(each.first);
    });
    for (const ResourceName& name : order_) {
      const auto found = envoy.applied.find(name);
      if (found != envoy.applied.end() && found->second.version == newest_[name].version) {
        envoy.unacknowledged.emplace_back(name, found->second.version);
      } else {
        envoy.inbox.push_back(name);
      }
    }
  }
  // The next to arrive: for the service that waits longest, the lowest rank.
  ResourceName TakeNext(SimulatedEnvoy& envoy) {
    auto next = envoy.inbox.begin();
    for (auto each = next; each != envoy.inbox.end(); ++each) {
      if (each->first == next->first &&
          SendRank(newest_[*each].resource) < SendRank(newest_[*next].resource)) {
        next = each;
      }
    }
    const ResourceName name = *next;
    envoy.inbox.erase(next);
    return name;
  }
  void Arrive(SimulatedEnvoy& envoy, const ResourceName& name) {
    const auto found = newest_.find(name);
    if (found == newest_.end()) return;
    envoy.applied[name] = found->second;
    envoy.unacknowledged.emplace_back(name, found->second.version);
  }
  // The endpoints that were sent last.
  std::vector<std::string> Told(const std::string& service) const {
    const auto found = newest_.find({service, ResourceKind::kEndpoints});
    if (found == newest_.end()) return {};
    return std::get<EndpointsResource>(found->second.resource).addresses;
  }

  struct Answer {
    RequestId id = 0;
    std::optional<std::string> pod;
    std::optional<Refusal> refusal;
  };
  std::deque<Answer> answers;  // for the test to check
  bool serving() const { return serving_; }

 private:
  static void Enqueue(SimulatedEnvoy& envoy, const ResourceName& name) {
    std::erase(envoy.inbox, name);
    envoy.inbox.push_back(name);
  }

  std::map<NodeId, SimulatedEnvoy>& envoys_;
  std::map<ResourceName, SimulatedEnvoy::Versioned> newest_;
  std::vector<ResourceName> order_;
  bool serving_ = false;
};

}  // namespace flyball::front
