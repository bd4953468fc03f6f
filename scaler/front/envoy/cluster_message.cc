// The pods of a service, and how requests are spread over them.
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "scaler/front/envoy/names.h"
#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {
namespace {

constexpr int kEds = 3;
constexpr int kLeastRequest = 1;
constexpr absl::Duration kConnectTimeout = absl::Seconds(1);
// Held requests would reach Envoy's own limits, so these are off: the front limits them.
constexpr uint32_t kNoLimit = 100'000;
constexpr uint32_t kNoRetryLimit = 1'000'000;

void SetLimits(envoy::CircuitBreakers& breakers) {
  envoy::Thresholds& of_all = *breakers.add_thresholds();
  of_all.mutable_max_connections()->set_value(kNoLimit);
  of_all.mutable_max_pending_requests()->set_value(kNoLimit);
  of_all.mutable_max_requests()->set_value(kNoLimit);
  of_all.mutable_max_retries()->set_value(kNoRetryLimit);
}

// The time limit of a route begins when a request has been sent whole. This one begins when the
// request reaches its pod, so it also ends requests whose client stops sending, and websockets.
void SetProtocol(envoy::HttpProtocolOptions& options, const ClusterResource& cluster) {
  envoy::ExplicitHttpConfig& version = *options.mutable_explicit_http_config();
  if (cluster.h2c) {
    version.mutable_http2_protocol_options();
  } else {
    version.mutable_http_protocol_options();
  }
  if (cluster.request_timeout > absl::ZeroDuration()) {
    *options.mutable_common_http_protocol_options()->mutable_max_stream_duration() =
        DurationMessage(cluster.request_timeout);
  }
}

// Sends a request to the pod that our answer names, or to any if it names none.
void SetPodOfAnswer(envoy::LoadBalancingPolicy& policy) {
  envoy::OverrideHost chosen;
  envoy::MetadataKey& key = *chosen.add_override_host_sources()->mutable_metadata();
  key.set_key(kMetadataNamespace);
  key.add_path()->set_key(kMetadataPod);
  envoy::TypedExtensionConfig& otherwise =
      *chosen.mutable_fallback_policy()->add_policies()->mutable_typed_extension_config();
  otherwise.set_name("envoy.load_balancing_policies.least_request");
  *otherwise.mutable_typed_config() = Packed(
      "envoy.extensions.load_balancing_policies.least_request.v3.LeastRequest", envoy::Empty());
  envoy::TypedExtensionConfig& config = *policy.add_policies()->mutable_typed_extension_config();
  config.set_name("envoy.load_balancing_policies.override_host");
  *config.mutable_typed_config() =
      Packed("envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost", chosen);
}

}  // namespace

envoy::Cluster ClusterMessage(const ClusterResource& cluster) {
  envoy::Cluster message;
  message.set_name(cluster.service);
  message.set_alt_stat_name(StatNameOf(cluster.service));
  message.set_type(kEds);
  SetFromAds(*message.mutable_eds_cluster_config()->mutable_eds_config());
  *message.mutable_connect_timeout() = DurationMessage(kConnectTimeout);
  message.set_lb_policy(kLeastRequest);
  SetLimits(*message.mutable_circuit_breakers());
  message.mutable_common_lb_config()->mutable_healthy_panic_threshold();  // present and zero
  if (cluster.h2c || cluster.request_timeout > absl::ZeroDuration()) {
    envoy::HttpProtocolOptions options;
    SetProtocol(options, cluster);
    const std::string type = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    (*message.mutable_typed_extension_protocol_options())[type] = Packed(type, options);
  }
  if (cluster.hard_limit) SetPodOfAnswer(*message.mutable_load_balancing_policy());
  return message;
}

envoy::ClusterLoadAssignment EndpointsMessage(const EndpointsResource& endpoints) {
  envoy::ClusterLoadAssignment message;
  message.set_cluster_name(endpoints.service);
  if (endpoints.addresses.empty()) return message;
  envoy::LocalityLbEndpoints& pods = *message.add_endpoints();
  for (const absl::string_view address : endpoints.addresses) {
    const size_t colon = address.rfind(':');
    uint32_t port = 0;
    if (colon == address.npos || !absl::SimpleAtoi(address.substr(colon + 1), &port)) continue;
    absl::string_view host = address.substr(0, colon);
    if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
    envoy::SocketAddress& socket =
        *pods.add_lb_endpoints()->mutable_endpoint()->mutable_address()->mutable_socket_address();
    socket.set_address(std::string(host));
    socket.set_port_value(port);
  }
  return message;
}

}  // namespace flyball::front
