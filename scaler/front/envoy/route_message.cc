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

// The methods that Go's transport, and so Knative, repeats after a connection broke, if there is no
// body. With a body that never ends each try would take all of the time limit, as it would with a
// websocket, of which Envoy waits for more in the same way. Envoy removes the header that tells of
// chunks before it looks for a route.
constexpr char kRepeatable[] = "GET|HEAD|OPTIONS|TRACE";

void LimitToRepeatable(envoy::RouteMatch& match) {
  envoy::HeaderMatcher& method = *match.add_headers();
  method.set_name(":method");
  method.mutable_string_match()->mutable_safe_regex()->set_regex(kRepeatable);
  for (const char* const with_more : {"content-length", "upgrade"}) {
    envoy::HeaderMatcher& absent = *match.add_headers();
    absent.set_name(with_more);
    absent.set_present_match(true);
    absent.set_invert_match(true);
  }
}

// Any method may be tried again if nothing of the request has reached a pod. If a connection breaks
// after that, as when a pod ends or closes an idle one at that moment, a request may be tried again
// that can be repeated. The retry goes to another pod: one that refuses has the fewest requests,
// and would be chosen again and again.
void SetRetries(envoy::RouteRetryPolicy& policy, bool repeatable) {
  policy.set_retry_on(repeatable ? "connect-failure,refused-stream,reset"
                                 : "connect-failure,refused-stream,reset-before-request");
  policy.mutable_num_retries()->set_value(3);
  envoy::RetryHostPredicate& elsewhere = *policy.add_retry_host_predicate();
  elsewhere.set_name("envoy.retry_host_predicates.previous_hosts");
  *elsewhere.mutable_typed_config() = Packed(
      "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate", envoy::Empty());
  policy.set_host_selection_retry_max_attempts(kTries);
}

void SetRoute(envoy::Route& to, const RouteResource& route, absl::string_view node,
              bool repeatable) {
  to.add_response_headers_to_remove("x-flyball");  // only the front may set it
  envoy::RouteAction& action = *to.mutable_route();
  action.set_cluster(route.service);
  *action.mutable_timeout() = DurationMessage(route.request_timeout);  // zero: none
  action.mutable_idle_timeout();
  SetRetries(*action.mutable_retry_policy(), repeatable);
  (*to.mutable_typed_per_filter_config())[kGateFilter] =
      Packed("envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute", GateOf(route, node));
}

}  // namespace

// Under a hard limit a request belongs to the pod that has room for it: if that one ends, another
// would get one too many.
void AddRoutes(envoy::VirtualHost& host, const envoy::RouteMatch& match, const RouteResource& route,
               absl::string_view node) {
  if (!route.hard_limit) {
    envoy::Route& repeatable = *host.add_routes();
    *repeatable.mutable_match() = match;
    LimitToRepeatable(*repeatable.mutable_match());
    SetRoute(repeatable, route, node, /*repeatable=*/true);
  }
  envoy::Route& other = *host.add_routes();
  *other.mutable_match() = match;
  SetRoute(other, route, node, /*repeatable=*/false);
}

envoy::RouteConfiguration RouteMessage(const RouteResource& route, absl::string_view node) {
  envoy::RouteConfiguration message;
  message.set_name(route.service);
  message.mutable_validate_clusters();  // present and false, since a cluster may come later
  envoy::VirtualHost& host = *message.add_virtual_hosts();
  host.set_name(route.service);
  host.add_domains("*");
  envoy::RouteMatch all;
  all.set_prefix("/");
  AddRoutes(host, all, route, node);
  return message;
}

}  // namespace flyball::front
