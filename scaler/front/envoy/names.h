// Names that Envoy uses: type URLs of resources, and the names of services in its statistics.
//
// Pure.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "scaler/front/resources.h"

namespace flyball::front {

// Host routes have the type of routes, since all of them together are one route resource.
absl::string_view TypeUrlOf(ResourceKind kind);
std::optional<ResourceKind> KindOfTypeUrl(absl::string_view type_url);

// The name of a service in statistics. There a dot ends a name, so "shop/web.v2" becomes
// "shop/web_v2"; no name of a Kubernetes object has an underscore.
std::string StatNameOf(absl::string_view service);
std::string ServiceOfStatName(absl::string_view name);

// The name, in listeners and routes, of the filter that asks the front about requests, and the
// namespace and key of the metadata in which an answer names a pod.
inline constexpr char kGateFilter[] = "flyball.gate";
inline constexpr char kMetadataNamespace[] = "flyball";
inline constexpr char kMetadataPod[] = "pod";

// The headers with which an Envoy begins its call for a gated request. They come from the route
// that it was sent, never from a client.
inline constexpr char kServiceHeader[] = "x-flyball-service";
inline constexpr char kNodeHeader[] = "x-flyball-node";

}  // namespace flyball::front
