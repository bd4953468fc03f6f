// What the front tells of a service besides its state: events, and how a cold start came about.
//
// Plain values.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace flyball::front {

enum class NoticeKind {
  kWoken,             // requests came at zero
  kActivationFailed,  // and got an error, all of them
  kFrontNotReady,     // an Envoy does not acknowledge, or none is connected
  kRefusedByEnvoy,    // a resource was refused, and the last good one stays
};

struct Notice {
  NoticeKind kind = NoticeKind::kWoken;
  std::string service;
  std::string text;  // a sentence
};

// From the first request that was held at zero to its release, and the parts of that. A part that
// was not seen, since its end came before its beginning, is zero.
struct ColdStart {
  absl::Duration total;
  absl::Duration write;  // until the scale was written
  absl::Duration pod;    // from then until a pod's container ran
  absl::Duration probe;  // from then until the pod passed
  absl::Duration ack;    // from then until the Envoy had the endpoint
};

}  // namespace flyball::front
