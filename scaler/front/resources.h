// The resources of one service at an Envoy, one of each kind, as plain values, not encoded.
//
// A service is named "<namespace>/<autoscaler>", and so are its resources.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "scaler/front/hosts/host_routes.h"

namespace flyball::front {

enum class ResourceKind { kCluster, kEndpoints, kRoute, kListener, kHostRoute };
inline constexpr int kResourceKinds = 5;

// The name of the listener for hosts, which belongs to no service, and of the table of host routes.
inline constexpr char kHostsListener[] = "hosts";

// How requests reach the pods.
struct ClusterResource {
  std::string service;
  bool h2c = false;         // HTTP/2 to the pods, else HTTP/1.1
  bool hard_limit = false;  // a released request goes to the named pod, if it is an endpoint
  // The time limit of a request from when it gets to its pod; zero: none.
  absl::Duration request_timeout = absl::ZeroDuration();
  bool operator==(const ClusterResource&) const = default;
};

// The pods that requests may go to.
struct EndpointsResource {
  std::string service;
  std::vector<std::string> addresses = {};  // "10.0.0.7:8080" or "[fd00::7]:8080", sorted
  bool operator==(const EndpointsResource&) const = default;
};

// Whether the front is asked about each request before it goes on: the gate.
struct RouteResource {
  std::string service;
  bool gated = true;
  bool hard_limit = false;  // always gated, and the end of each request is reported too
  // The time limit of a request that has been sent whole, not counting its wait; zero: none.
  absl::Duration request_timeout = absl::ZeroDuration();
  bool operator==(const RouteResource&) const = default;
};

// Where an Envoy listens for the service. It contains nothing that may change while the service is
// carried, since an Envoy closes the connections of a listener that changes.
struct ListenerResource {
  std::string service;
  uint16_t port = 0;
  bool operator==(const ListenerResource&) const = default;
};

// Which requests at the listener for hosts go to the service, and whether they are gated. All of
// these resources together make one table, which each Envoy has as a whole.
struct HostRouteResource {
  std::string service;
  HostRoutes routes;
  bool gated = true;
  bool hard_limit = false;
  absl::Duration request_timeout = absl::ZeroDuration();
  bool operator==(const HostRouteResource&) const = default;
};

// The alternatives stand in the order of ResourceKind.
using Resource = std::variant<ClusterResource, EndpointsResource, RouteResource, ListenerResource,
                              HostRouteResource>;

inline ResourceKind KindOf(const Resource& resource) {
  return static_cast<ResourceKind>(resource.index());
}

inline const std::string& ServiceOf(const Resource& resource) {
  return std::visit([](const auto& each) -> const std::string& { return each.service; }, resource);
}

}  // namespace flyball::front
