// The settings that an http trigger gives for one service.
//
// Plain values, checked, made from the trigger's metadata and Knative's annotations. Bounds,
// windows and targets are in `settings`.
#pragma once

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "scaler/front/hosts/host_routes.h"
#include "scaler/spec/request_settings.h"

namespace flyball::front {

struct HttpService {
  std::string name;           // "<namespace>/<autoscaler>"
  std::string front_service;  // the Service that clients call, of the same namespace
  std::string target_port;    // of the pods: a number or the name of a container port
  uint16_t port = 0;          // of the Envoys' listener
  bool h2c = false;           // HTTP/2 to the pods
  HostRoutes hosts;           // its requests at the listener for hosts; empty: none

  int32_t container_concurrency = 0;  // requests that a pod gets at once, a hard limit; 0: none
  absl::Duration activation_timeout = absl::Seconds(60);  // how long a request is held
  absl::Duration request_timeout;                         // after that; zero: none
  int64_t queue = 2000;                                   // requests that may be held

  // min_scale and max_scale are those of the Autoscaler.
  scaler::RequestSettings settings;

  bool hard_limit() const { return container_concurrency > 0; }
};

}  // namespace flyball::front
