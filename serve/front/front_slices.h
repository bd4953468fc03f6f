// Writes the EndpointSlices of the Services that clients call, so that these lead to the Envoys.
//
// Not thread-safe; waits for the API server. Objects of others are not changed: a Service with a
// selector already has endpoints, and so has one whose slices somebody else writes. A slice
// contains the Envoys that are ready and not being deleted, on the port of the service; there is
// one slice for each version of IP. It has the protocols of the Service's ports, like those of the
// cluster, and the Envoys' nodes: by these a Service with externalTrafficPolicy or
// internalTrafficPolicy Local knows which of them are on the node of the caller.
#pragma once

#include <compare>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "http/client/transport.h"
#include "kube/client/api_client.h"

namespace flyball::serve {

inline constexpr char kSlicesManagedBy[] = "flyball.dev";

class FrontSlices {
 public:
  // Lists are read by `server` itself, whatever their length. Both outlive the slices.
  FrontSlices(kube::ApiClient& client, http::HttpTransport& server)
      : client_(client), server_(server) {}

  // The Service that clients call, and the port that its slices lead to.
  struct Target {
    std::string ns;
    std::string service;
    uint16_t port = 0;  // of the Envoys' listener

    std::string Key() const { return ns + "/" + service; }
  };

  // The properties of a Service that decide how requests are carried.
  struct Port {
    std::string name;
    std::string app_protocol = {};
  };
  struct ServiceFacts {
    std::string uid;
    std::vector<Port> ports;  // never empty
    bool has_selector = false;
    // Whether its first port asks for HTTP/2 to the pods. nullopt: an alias of another Service.
    std::optional<bool> h2c;
  };
  //   kNotFound   there is no such Service
  absl::StatusOr<ServiceFacts> Look(const Target& target);

  struct Envoy {
    std::string ip;
    std::string node = {};  // "": unknown
    friend auto operator<=>(const Envoy&, const Envoy&) = default;
  };
  // Updates its slices to the Envoys, which are sorted.
  //   kFailedPrecondition   it has a selector, or somebody else writes its slices
  absl::Status Write(const Target& target, const ServiceFacts& facts,
                     const std::vector<Envoy>& envoys);

  // A slice that was written here.
  struct Written {
    Target target;
    bool h2c = false;    // as its Service said at that time
    bool leads = false;  // it has endpoints
  };
  // The slices of a namespace; "": of all.
  absl::StatusOr<std::vector<Written>> List(const std::string& ns);
  // Removes the endpoints of the namespace's slices that lead to one of these ports.
  absl::Status Empty(const std::string& ns, const std::set<uint16_t>& ports);

 private:
  absl::StatusOr<nlohmann::json> SlicesOf(const Target& target);
  absl::Status WriteOne(const Target& target, const ServiceFacts& facts, absl::string_view family,
                        const std::vector<Envoy>& envoys, const nlohmann::json& slices);

  kube::ApiClient& client_;
  http::HttpTransport& server_;
};

}  // namespace flyball::serve
