// The route of a service, with the gate on or off.
#include "scaler/front/envoy/names.h"
#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {
namespace {

void Add(envoy::ExtProcOverrides& overrides, absl::string_view header, absl::string_view value) {
  envoy::HeaderValue& added = *overrides.add_grpc_initial_metadata();
  added.set_key(std::string(header));
  added.set_value(std::string(value));
}

envoy::ExtProcPerRoute GateOf(const RouteResource& route, absl::string_view node) {
  envoy::ExtProcPerRoute gate;
  if (!route.gated) {
    gate.set_disabled(true);
    return gate;
  }
  envoy::ExtProcOverrides& overrides = *gate.mutable_overrides();
  Add(overrides, kServiceHeader, route.service);
  Add(overrides, kNodeHeader, node);
  overrides.mutable_failure_mode_allow()->set_value(true);
  if (route.hard_limit) SetProcessingMode(*overrides.mutable_processing_mode(), true);
  return gate;
}

}  // namespace

void SetRoute(envoy::Route& to, const RouteResource& route, absl::string_view node) {
  to.add_response_headers_to_remove("x-flyball");  // which is ours alone to say
  envoy::RouteAction& action = *to.mutable_route();
  action.set_cluster(route.service);
  *action.mutable_timeout() = DurationMessage(route.request_timeout);  // zero: none
  action.mutable_idle_timeout();
  // Nothing of the request has reached a pod in these cases, so that any method may be repeated.
  action.mutable_retry_policy()->set_retry_on(
      "connect-failure,refused-stream,reset-before-request");
  action.mutable_retry_policy()->mutable_num_retries()->set_value(3);
  (*to.mutable_typed_per_filter_config())[kGateFilter] =
      Packed("envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", GateOf(route, node));
}

envoy::RouteConfiguration RouteMessage(const RouteResource& route, absl::string_view node) {
  envoy::RouteConfiguration message;
  message.set_name(route.service);
  message.mutable_validate_clusters();  // present and false: a cluster may come later
  envoy::VirtualHost& host = *message.add_virtual_hosts();
  host.set_name(route.service);
  host.add_domains("*");
  envoy::Route& only = *host.add_routes();
  only.mutable_match()->set_prefix("/");
  SetRoute(only, route, node);
  return message;
}

}  // namespace flyball::front
