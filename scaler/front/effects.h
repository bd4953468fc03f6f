// The consequences of an event as values, in the order in which they are to be carried out: calls
// to the transport and to the scaler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "scaler/front/data_path.h"
#include "scaler/front/envoys.h"
#include "scaler/front/notices.h"

namespace flyball::front {

struct PutResource {
  Resource resource;
  uint64_t version = 0;
};
struct RemoveResource {
  ResourceKind kind = ResourceKind::kCluster;
  std::string service;
};
struct StartServing {
  std::vector<std::string> kept;
};
struct ReleaseRequest {
  RequestId id = 0;
  std::optional<std::string> pod;
};
struct RefuseRequest {
  RequestId id = 0;
  Refusal refusal;
};
struct WishScale {
  std::string service;
  int32_t at_least = 0;
};
struct OfferZero {
  std::string service;
};
struct TellDesired {
  std::string service;
};
struct StartProbe {
  std::string service;
  std::string uid;
  std::string address;
};
struct WakeAt {
  absl::Time time;
};
struct TellNotice {
  Notice notice;
};
struct TellColdStart {
  std::string service;
  ColdStart cold_start;
};

using Effect =
    std::variant<PutResource, RemoveResource, StartServing, ReleaseRequest, RefuseRequest,
                 WishScale, OfferZero, TellDesired, StartProbe, WakeAt, TellNotice, TellColdStart>;
using Effects = std::vector<Effect>;

// The context in which one event is handled: the time, the Envoys, and the event's effects.
struct Turn {
  absl::Time now;
  const Envoys& envoys;
  Effects& effects;
};

}  // namespace flyball::front
