#include "scaler/front/envoy/names.h"

#include "absl/strings/str_replace.h"

namespace flyball::front {
namespace {

// In the order of ResourceKind.
constexpr absl::string_view kTypeUrls[kResourceKinds] = {
    "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
    "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
    "type.googleapis.com/envoy.config.listener.v3.Listener",
    "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
};

}  // namespace

absl::string_view TypeUrlOf(ResourceKind kind) { return kTypeUrls[static_cast<int>(kind)]; }

std::optional<ResourceKind> KindOfTypeUrl(absl::string_view type_url) {
  for (int i = 0; i < kResourceKinds; ++i) {
    if (kTypeUrls[i] == type_url) return static_cast<ResourceKind>(i);
  }
  return std::nullopt;
}

std::string StatNameOf(absl::string_view service) {
  return absl::StrReplaceAll(service, {{".", "_"}});
}

std::string ServiceOfStatName(absl::string_view name) {
  return absl::StrReplaceAll(name, {{"_", "."}});
}

}  // namespace flyball::front
