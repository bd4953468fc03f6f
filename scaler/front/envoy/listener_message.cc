// Makes the listener of a service: HTTP/1 and 2, as transparent as possible, with the gate before
// the router.
#include "absl/strings/str_replace.h"
#include "scaler/front/envoy/names.h"
#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {
namespace {

constexpr int kPassThrough = 2;  // keeps the pod's Server header
constexpr uint32_t kBufferBytes = 65536;
// Of an HTTP/2 connection; they may all be held. A proxy that needs more opens more connections.
constexpr uint32_t kStreams = 1000;
// From the first byte of a request to the end of its headers. There is no limit on what follows.
constexpr absl::Duration kHeadersTimeout = absl::Seconds(10);
// How long an answer that ends its connection may wait to be written. Without this it is a second,
// which passes while a busy worker releases thousands of requests: then Envoy drops the answer.
constexpr absl::Duration kCloseTimeout = absl::Seconds(10);
// How long a request waits for the front's answer: the longest that Envoy accepts. The front itself
// ends each wait in time, and keepalives end calls to a process that is silent (in the bootstrap).
constexpr absl::Duration kMessageTimeout = absl::Hours(1);

// Through retries, held requests survive a restart of this process: an Envoy that lost the
// connection asks again for five minutes, in the end every half second.
void SetRetries(envoy::RetryPolicy& policy) {
  policy.set_retry_on("unavailable,reset,connect-failure");
  policy.mutable_num_retries()->set_value(600);
  *policy.mutable_retry_back_off()->mutable_base_interval() =
      DurationMessage(absl::Milliseconds(50));
  *policy.mutable_retry_back_off()->mutable_max_interval() =
      DurationMessage(absl::Milliseconds(500));
}

envoy::ExternalProcessor Gate() {
  envoy::ExternalProcessor gate;
  envoy::GrpcService& service = *gate.mutable_grpc_service();
  service.mutable_envoy_grpc()->set_cluster_name("flyball-owner");
  service.mutable_timeout();
  SetRetries(*service.mutable_retry_policy());
  // If this process is gone, requests at pods continue, and so do those it cannot be asked about.
  gate.set_failure_mode_allow(true);
  gate.mutable_status_on_error()->set_code(503);
  *gate.mutable_message_timeout() = DurationMessage(kMessageTimeout);
  SetProcessingMode(*gate.mutable_processing_mode(), false);
  // The front is sent no header of the request: it reads none, and a client may make each 60 KB
  // long. Without a list of allowed headers all would be sent; the disallowed ones take precedence.
  envoy::HeaderForwardingRules& sent = *gate.mutable_forward_rules();
  sent.mutable_allowed_headers()->add_patterns()->set_exact(":authority");
  sent.mutable_disallowed_headers()->add_patterns()->set_exact(":authority");
  gate.mutable_metadata_options()->mutable_receiving_namespaces()->add_untyped(kMetadataNamespace);
  return gate;
}

}  // namespace

// An Envoy whose machine has no IPv6 refuses a listener with such an address.
envoy::Listener ListenerMessage(const ListenerResource& listener, bool ipv6) {
  envoy::HttpConnectionManager http;
  http.set_stat_prefix(StatNameOf(listener.service));
  SetFromAds(*http.mutable_rds()->mutable_config_source());
  http.mutable_rds()->set_route_config_name(listener.service);
  http.mutable_http_protocol_options()->set_accept_http_10(true);
  http.mutable_http_protocol_options()->set_default_host_for_http_10(
      absl::StrReplaceAll(listener.service, {{"/", "."}}));
  // Clients offer TLS in requests that need none, as Apache's HttpClient 5.4 does in each; Envoy
  // answers 403 to an upgrade that it neither knows nor is told to ignore. It ignores h2c anyway.
  http.mutable_http_protocol_options()->add_ignore_http_11_upgrade()->set_prefix("TLS/");
  http.mutable_http2_protocol_options()->mutable_max_concurrent_streams()->set_value(kStreams);
  http.mutable_generate_request_id();  // present and false
  http.add_upgrade_configs()->set_upgrade_type("websocket");
  http.mutable_stream_idle_timeout();  // present and zero: none
  *http.mutable_delayed_close_timeout() = DurationMessage(kCloseTimeout);
  http.mutable_request_timeout();
  *http.mutable_request_headers_timeout() = DurationMessage(kHeadersTimeout);
  http.set_server_header_transformation(kPassThrough);

  envoy::HttpFilter& gate = *http.add_http_filters();
  gate.set_name(kGateFilter);
  *gate.mutable_typed_config() =
      Packed("envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor", Gate());
  envoy::HttpFilter& router = *http.add_http_filters();
  router.set_name("envoy.filters.http.router");
  envoy::Router plain;
  plain.set_suppress_envoy_headers(true);
  *router.mutable_typed_config() = Packed("envoy.extensions.filters.http.router.v3.Router", plain);

  envoy::Listener message;
  message.set_name(listener.service);
  envoy::SocketAddress& address = *message.mutable_address()->mutable_socket_address();
  address.set_address(ipv6 ? "::" : "0.0.0.0");
  address.set_ipv4_compat(ipv6);
  address.set_port_value(listener.port);
  message.mutable_per_connection_buffer_limit_bytes()->set_value(kBufferBytes);
  envoy::Filter& filter = *message.add_filter_chains()->add_filters();
  filter.set_name("envoy.filters.network.http_connection_manager");
  *filter.mutable_typed_config() = Packed(
      "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", http);
  return message;
}

}  // namespace flyball::front
