// Whether requests reach a service that the Envoys carry; the source of the condition FrontReady.
//
// A plain value.
#pragma once

#include <string>

namespace flyball::scaler {

struct FrontReadiness {
  bool ready = false;
  // One of Carried, NotCarried, ServiceNotLed, HostsTaken, FrontNotReady, InvalidTrigger.
  std::string reason;
  std::string message;  // a sentence
  friend bool operator==(const FrontReadiness&, const FrontReadiness&) = default;
};

}  // namespace flyball::scaler
