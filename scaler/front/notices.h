// What the front reports of a service besides its state: events, and the parts of cold starts.
//
// Plain values.
#pragma once

#include <string>

#include "absl/time/time.h"

namespace flyball::front {

enum class NoticeKind {
  kWoken,             // requests arrived at zero replicas
  kActivationFailed,  // the scale was refused, or no pod was ready in time
  kFrontNotReady,     // an Envoy does not acknowledge, or none is connected
  kRefusedByEnvoy,    // an Envoy refused a resource and keeps the last good one
};

struct Notice {
  NoticeKind kind = NoticeKind::kWoken;
  std::string service;
  std::string text;  // a sentence
};

// The time from the first request that was held at zero to its release, and its parts. A part whose
// end came before its beginning is zero.
struct ColdStart {
  absl::Duration total;
  absl::Duration write;  // until the scale was written
  absl::Duration pod;    // from then until a pod's container ran
  absl::Duration probe;  // from then until the pod passed its probe
  absl::Duration ack;    // from then until the Envoy had the endpoint
};

}  // namespace flyball::front
