#include "scaler/front/envoy/resource_message.h"

#include "absl/strings/str_cat.h"
#include "scaler/front/envoy/names.h"

namespace flyball::front {
namespace {

constexpr int kApiV3 = 2;
constexpr int kSend = 1;
constexpr int kSkip = 2;

}  // namespace

envoy::Duration DurationMessage(absl::Duration duration) {
  envoy::Duration message;
  message.set_seconds(absl::IDivDuration(duration, absl::Seconds(1), &duration));
  message.set_nanos(static_cast<int32_t>(absl::ToInt64Nanoseconds(duration)));
  return message;
}

envoy::Any Packed(absl::string_view type, const google::protobuf::MessageLite& message) {
  envoy::Any any;
  any.set_type_url(absl::StrCat("type.googleapis.com/", type));
  any.set_value(message.SerializeAsString());
  return any;
}

void SetFromAds(envoy::ConfigSource& source) {
  source.mutable_ads();
  source.mutable_initial_fetch_timeout();
  source.set_resource_api_version(kApiV3);
}

void SetProcessingMode(envoy::ProcessingMode& mode, bool until_end) {
  mode.set_request_header_mode(kSend);
  mode.set_response_header_mode(kSkip);
  mode.set_request_trailer_mode(kSkip);
  // Without it Envoy ends the call right after our answer, and the end of the request is not seen.
  mode.set_response_trailer_mode(until_end ? kSend : kSkip);
}

envoy::Any ResourceMessage(const Resource& resource, absl::string_view node, bool ipv6) {
  envoy::Any any;
  any.set_type_url(std::string(TypeUrlOf(KindOf(resource))));
  struct Serialize {
    absl::string_view node;
    bool ipv6;
    std::string operator()(const ClusterResource& cluster) const {
      return ClusterMessage(cluster).SerializeAsString();
    }
    std::string operator()(const EndpointsResource& endpoints) const {
      return EndpointsMessage(endpoints).SerializeAsString();
    }
    std::string operator()(const RouteResource& route) const {
      return RouteMessage(route, node).SerializeAsString();
    }
    std::string operator()(const HostRouteResource& hosts) const {
      return HostsMessage({&hosts}, {}, node).SerializeAsString();
    }
    std::string operator()(const ListenerResource& listener) const {
      return ListenerMessage(listener, ipv6).SerializeAsString();
    }
  };
  any.set_value(std::visit(Serialize{node, ipv6}, resource));
  return any;
}

}  // namespace flyball::front
