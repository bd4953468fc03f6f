// The route of a service, with the gate on or off.
#include "scaler/front/envoy/names.h"
#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {
namespace {

// Random choices of another pod before the same one is tried again. Each takes the less busy of two
// pods. When three refuse and the fourth is busy, one choice in 16 takes the fourth, so that with
// 300 choices one request in 200 million misses it.
constexpr int kTries = 300;

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

// In these cases nothing of the request has reached a pod, so any method may be retried. The retry
// goes to another pod: one that refuses has the fewest requests, and would be chosen again and
// again.
void SetRetries(envoy::RouteRetryPolicy& policy) {
  policy.set_retry_on("connect-failure,refused-stream,reset-before-request");
  policy.mutable_num_retries()->set_value(3);
  envoy::RetryHostPredicate& elsewhere = *policy.add_retry_host_predicate();
  elsewhere.set_name("envoy.retry_host_predicates.previous_hosts");
  *elsewhere.mutable_typed_config() = Packed(
      "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate", envoy::Empty());
  policy.set_host_selection_retry_max_attempts(kTries);
}

}  // namespace

void SetRoute(envoy::Route& to, const RouteResource& route, absl::string_view node) {
  to.add_response_headers_to_remove("x-flyball");  // only the front may set it
  envoy::RouteAction& action = *to.mutable_route();
  action.set_cluster(route.service);
  *action.mutable_timeout() = DurationMessage(route.request_timeout);  // zero: none
  action.mutable_idle_timeout();
  SetRetries(*action.mutable_retry_policy());
  (*to.mutable_typed_per_filter_config())[kGateFilter] =
      Packed("envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", GateOf(route, node));
}

envoy::RouteConfiguration RouteMessage(const RouteResource& route, absl::string_view node) {
  envoy::RouteConfiguration message;
  message.set_name(route.service);
  message.mutable_validate_clusters();  // present and false, since a cluster may come later
  envoy::VirtualHost& host = *message.add_virtual_hosts();
  host.set_name(route.service);
  host.add_domains("*");
  envoy::Route& only = *host.add_routes();
  only.mutable_match()->set_prefix("/");
  SetRoute(only, route, node);
  return message;
}

}  // namespace flyball::front
