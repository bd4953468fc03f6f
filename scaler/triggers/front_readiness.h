// Whether requests reach a service that the Envoys carry, as the condition FrontReady tells it.
//
// A plain value.
#pragma once

#include <string>

namespace flyball::scaler {

struct FrontReadiness {
  bool ready = false;
  std::string reason;   // a word: Carried, NotCarried, ServiceNotLed, HostsTaken, FrontNotReady
  std::string message;  // a sentence
  friend bool operator==(const FrontReadiness&, const FrontReadiness&) = default;
};

}  // namespace flyball::scaler
