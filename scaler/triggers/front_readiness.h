// Whether a service whose requests are carried is reached by them, as a condition tells it.
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
