// links: apiservice
// Any request target: it is routed without a crash, a decoded slash never reaches a route, and what
// is asked about belongs to what is served.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "absl/strings/match.h"
#include "apiservice/requests/router.h"

namespace {

using flyball::apiservice::Endpoint;
using flyball::apiservice::RoutedRequest;

void Require(bool condition) {
  if (!condition) std::abort();
}

// One path segment that a route may hold.
void RequireSegment(const std::string& text) {
  Require(!text.empty() && !absl::StrContains(text, '/'));
}

void CheckMetric(const RoutedRequest& routed) {
  const auto& asked = routed.attributes;
  Require(asked.is_resource && asked.group == routed.group && asked.version == routed.version);
  RequireSegment(routed.metric);
  if (routed.endpoint == Endpoint::kExternalMetric) {
    RequireSegment(routed.ns);
    Require(asked.ns == routed.ns);
    return;
  }
  RequireSegment(routed.resource);
  RequireSegment(routed.name);
  // The namespace that is read is the one that was authorized.
  if (routed.namespace_itself) Require(asked.ns == routed.name);
  if (!routed.namespace_itself && !routed.ns.empty()) Require(asked.ns == routed.ns);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string target(reinterpret_cast<const char*>(data), size);
  RoutedRequest routed = flyball::apiservice::Route("GET", target, absl::Seconds(60));
  Require(routed.timeout > absl::ZeroDuration() && routed.timeout <= absl::Seconds(60));
  if (routed.early_error.has_value()) return 0;
  flyball::apiservice::ReadParameters(4096, &routed);
  if (routed.error.has_value()) return 0;
  if (routed.endpoint == Endpoint::kCustomMetric || routed.endpoint == Endpoint::kExternalMetric) {
    CheckMetric(routed);
  }
  return 0;
}
