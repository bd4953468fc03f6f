// Sends one service's resources to the Envoys, in an order that causes no errors, and knows which
// Envoys have them.
// Not thread-safe. Everything goes over one stream to each Envoy, in the order of the effects: the
// gate goes on before endpoints leave, and off after they came.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "scaler/front/acknowledgements.h"
#include "scaler/front/effects.h"
#include "scaler/front/endpoint_versions.h"
#include "scaler/front/http_service.h"

namespace flyball::front {

class Publisher {
 public:
  // `version`: the last version that was given to any resource; it is shared, and incremented here.
  explicit Publisher(uint64_t& version) : version_(version) {}

  // Sends what differs from the last call. Returns whether the gate differs.
  bool Publish(const HttpService& spec, bool gated, const std::vector<std::string>& endpoints,
               Turn& turn);
  void Remove(const std::string& service, Turn& turn);

  Acknowledgements& acks() { return acks_; }
  const Acknowledgements& acks() const { return acks_; }

  bool gated() const;
  // Whether the Envoy can carry a request to some pod; Reaches: to this pod.
  bool CanServe(const NodeId& node) const;
  bool Reaches(const NodeId& node, const std::string& address) const;
  bool AllCanServe() const;
  // Whether every connected Envoy has the newest state of the gate, for all routes of the service.
  bool AllHaveRoute() const {
    return acks_.AllHaveNewest(ResourceKind::kRoute) &&
           acks_.AllHaveNewest(ResourceKind::kHostRoute);
  }

 private:
  // Sends the resource if it has changed. Returns whether it has.
  bool Put(Resource resource, Turn& turn);
  bool PutHosts(const HttpService& spec, bool gated, Turn& turn);

  uint64_t& version_;
  Acknowledgements acks_;
  EndpointVersions endpoints_;
  std::array<std::optional<Resource>, kResourceKinds> told_;
};

}  // namespace flyball::front
