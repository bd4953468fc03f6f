// Whether requests reach a service that the Envoys carry, as the condition FrontReady tells it.
//
// A plain value.
#pragma once

#include <string>

namespace flyball::scaler {

struct FrontReadiness {
  bool ready = false;
  // A word: Carried, NotCarried, ServiceNotLed, HostsTaken, FrontNotReady, InvalidTrigger.
  std::string reason;
  std::string message;  // a sentence
  friend bool operator==(const FrontReadiness&, const FrontReadiness&) = default;
};

}  // namespace flyball::scaler
