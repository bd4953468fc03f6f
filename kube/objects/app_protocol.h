// What the appProtocol of a Service's port, or of an EndpointSlice's, says of the pods.
//
// Pure.
#pragma once

#include "absl/strings/string_view.h"

namespace flyball::kube {

// Whether the pods take HTTP/2 without TLS.
inline bool MeansHttp2(absl::string_view app_protocol) {
  return app_protocol == "kubernetes.io/h2c" || app_protocol == "grpc" || app_protocol == "h2c";
}

}  // namespace flyball::kube
