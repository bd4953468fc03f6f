// Writes the EndpointSlices of the Services that clients call, so that these lead to the Envoys.
//
// Not thread-safe; waits for the API server. Objects of others are not changed: a Service with a
// selector has endpoints already, and so has one whose slices somebody else writes. A slice holds
// the Envoys that are ready and not being deleted, on the port of the service; there is one slice
// for each version of IP. It says the protocols of the Service's ports, as those of the cluster do.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kube/client/api_client.h"

namespace flyball::serve {

inline constexpr char kSlicesManagedBy[] = "flyball.dev";

class FrontSlices {
 public:
  explicit FrontSlices(kube::ApiClient& client) : client_(client) {}

  // Where a Service that clients call leads.
  struct Target {
    std::string ns;
    std::string service;
    uint16_t port = 0;  // of the Envoys' listener

    std::string Key() const { return ns + "/" + service; }
  };

  // What of a Service decides how requests are carried.
  struct Port {
    std::string name;
    std::string app_protocol = {};
  };
  struct ServiceFacts {
    std::string uid;
    std::vector<Port> ports;  // never empty
    bool has_selector = false;
    // Of its first port: HTTP/2 to the pods. An alias of another Service does not say it.
    std::optional<bool> h2c;
  };
  //   kNotFound   there is no such Service
  absl::StatusOr<ServiceFacts> Look(const Target& target);

  // Brings its slices in step with the Envoys, which are told by their IPs, sorted.
  //   kFailedPrecondition   it has a selector, or somebody else writes its slices
  absl::Status Write(const Target& target, const ServiceFacts& facts,
                     const std::vector<std::string>& envoys);

  // A slice that was written here.
  struct Written {
    Target target;
    bool h2c = false;    // as its Service said then
    bool leads = false;  // it has endpoints
  };
  // Those of a namespace; "": of all.
  absl::StatusOr<std::vector<Written>> List(const std::string& ns);
  // Takes the endpoints from those of the namespace that lead to one of these ports.
  absl::Status Empty(const std::string& ns, const std::set<uint16_t>& ports);

 private:
  absl::StatusOr<nlohmann::json> SlicesOf(const Target& target);
  absl::Status WriteOne(const Target& target, const ServiceFacts& facts, absl::string_view family,
                        const std::vector<std::string>& envoys, const nlohmann::json& slices);

  kube::ApiClient& client_;
};

}  // namespace flyball::serve
