// Encodes resources as Envoy's messages.
//
// Pure. The files that set options explain them: listener_message.cc, route_message.cc and
// cluster_message.cc. Measurements were made with Envoy 1.40.
#pragma once

#include <set>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "envoy.pb.h"
#include "scaler/front/resources.h"

namespace flyball::front {

// `node` is the Envoy's name: the route tells it to send that name with each gated request. `ipv6`:
// its machine has IPv6, on which it listens then as well.
envoy::Any ResourceMessage(const Resource& resource, absl::string_view node, bool ipv6 = false);

envoy::Cluster ClusterMessage(const ClusterResource& cluster);
envoy::ClusterLoadAssignment EndpointsMessage(const EndpointsResource& endpoints);
envoy::RouteConfiguration RouteMessage(const RouteResource& route, absl::string_view node);
// The table of all host routes. Those of services in `still_gated` have the gate on, whatever the
// route says.
envoy::RouteConfiguration HostsMessage(absl::Span<const HostRouteResource* const> routes,
                                       const std::set<std::string>& still_gated,
                                       absl::string_view node);
envoy::Listener ListenerMessage(const ListenerResource& listener, bool ipv6 = false);

// Shared by the messages.
// Adds the routes of what matches to the pods of the service, with whether the front is asked about
// each request: one for requests that may be repeated, if these are treated differently, and one
// for all others.
void AddRoutes(envoy::VirtualHost& host, const envoy::RouteMatch& match, const RouteResource& route,
               absl::string_view node);
envoy::Duration DurationMessage(absl::Duration duration);
envoy::Any Packed(absl::string_view type, const google::protobuf::MessageLite& message);
// Makes the resource come over the stream of all resources, and be waited for without a time limit.
void SetFromAds(envoy::ConfigSource& source);
// Which parts of a request are sent when the front is asked about it: the headers and, with
// `until_end`, the trailers of the response.
void SetProcessingMode(envoy::ProcessingMode& mode, bool until_end);

}  // namespace flyball::front
