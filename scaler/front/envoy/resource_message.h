// The bytes of a resource, as Envoy reads them.
//
// Pure. Which options are set, and why, stands in the files that set them: listener_message.cc,
// route_message.cc and cluster_message.cc. What is measured was measured on Envoy 1.40.
#pragma once

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "envoy.pb.h"
#include "scaler/front/resources.h"

namespace flyball::front {

// Of an Envoy by this name: the route tells it to say its name with each gated request.
envoy::Any ResourceMessage(const Resource& resource, absl::string_view node);

envoy::Cluster ClusterMessage(const ClusterResource& cluster);
envoy::ClusterLoadAssignment EndpointsMessage(const EndpointsResource& endpoints);
envoy::RouteConfiguration RouteMessage(const RouteResource& route, absl::string_view node);
// The table of all host routes. Those of services in `still_gated` have the gate on whatever they
// say.
envoy::RouteConfiguration HostsMessage(absl::Span<const HostRouteResource* const> routes,
                                       const std::set<std::string>& still_gated,
                                       absl::string_view node);
envoy::Listener ListenerMessage(const ListenerResource& listener);

// Shared by the messages.
// The route's way to the pods of its service, and whether each request is asked about before.
void SetRoute(envoy::Route& to, const RouteResource& route, absl::string_view node);
envoy::Duration DurationMessage(absl::Duration duration);
envoy::Any Packed(absl::string_view type, const google::protobuf::MessageLite& message);
// Over the stream that all resources come by, and waited for without an end.
void SetFromAds(envoy::ConfigSource& source);
// What is sent of each request that is asked about: its beginning, and, where `until_end`, its
// trailers.
void SetProcessingMode(envoy::ProcessingMode& mode, bool until_end);

}  // namespace flyball::front
