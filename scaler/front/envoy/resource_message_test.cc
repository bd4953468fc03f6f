#include "scaler/front/envoy/resource_message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scaler/front/envoy/names.h"

namespace flyball::front {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

template <typename Message>
Message Unpacked(const envoy::Any& any) {
  Message message;
  EXPECT_TRUE(message.ParseFromString(any.value())) << any.type_url();
  return message;
}

envoy::ExtProcPerRoute GateOf(const envoy::RouteConfiguration& route) {
  const auto& configs = route.virtual_hosts(0).routes(0).typed_per_filter_config();
  return Unpacked<envoy::ExtProcPerRoute>(configs.at(kGateFilter));
}

TEST(ResourceMessageTest, NamesItsTypeAndItsService) {
  const std::vector<Resource> all = {
      ClusterResource{.service = "shop/web"}, EndpointsResource{.service = "shop/web"},
      RouteResource{.service = "shop/web"}, ListenerResource{.service = "shop/web", .port = 20000}};
  for (const Resource& resource : all) {
    const envoy::Any any = ResourceMessage(resource, "front-1");
    EXPECT_EQ(any.type_url(), TypeUrlOf(KindOf(resource)));
    EXPECT_EQ(KindOfTypeUrl(any.type_url()), KindOf(resource));
    EXPECT_EQ(Unpacked<envoy::Node>(any).id(), "shop/web");  // the name is field 1 of each
  }
}

TEST(RouteMessageTest, TheGateOffAsksNobody) {
  const auto gate = GateOf(RouteMessage({.service = "shop/web", .gated = false}, "front-1"));
  EXPECT_TRUE(gate.disabled());
  EXPECT_FALSE(gate.has_overrides());
}

TEST(RouteMessageTest, TheGateOnSaysServiceAndNode) {
  const auto gate = GateOf(RouteMessage({.service = "shop/web", .gated = true}, "front-1"));
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& header : gate.overrides().grpc_initial_metadata()) {
    headers.emplace_back(header.key(), header.value());
  }
  EXPECT_THAT(headers, ElementsAre(Pair("x-flyball-service", "shop/web"),
                                   Pair("x-flyball-node", "front-1")));
  EXPECT_TRUE(gate.overrides().failure_mode_allow().value());
  EXPECT_FALSE(gate.overrides().has_processing_mode());
}

TEST(RouteMessageTest, AHardLimitLearnsTheEndOfRequests) {
  const auto gate =
      GateOf(RouteMessage({.service = "shop/web", .gated = true, .hard_limit = true}, "front-1"));
  EXPECT_EQ(gate.overrides().processing_mode().request_header_mode(), 1);
  EXPECT_EQ(gate.overrides().processing_mode().response_trailer_mode(), 1);
}

TEST(RouteMessageTest, TimeoutsStandThereAlsoWhereTheyAreNone) {
  const auto none = RouteMessage({.service = "shop/web"}, "n").virtual_hosts(0).routes(0).route();
  EXPECT_TRUE(none.has_timeout());
  EXPECT_EQ(none.timeout().seconds(), 0);
  EXPECT_TRUE(none.has_idle_timeout());
  const auto some =
      RouteMessage({.service = "shop/web", .request_timeout = absl::Milliseconds(1500)}, "n");
  EXPECT_EQ(some.virtual_hosts(0).routes(0).route().timeout().seconds(), 1);
  EXPECT_EQ(some.virtual_hosts(0).routes(0).route().timeout().nanos(), 500'000'000);
}

TEST(RouteMessageTest, WhatReachedNoPodOrMayBeRepeatedIsTriedAtAnother) {
  const auto host = RouteMessage({.service = "shop/web"}, "n").virtual_hosts(0);
  ASSERT_EQ(host.routes_size(), 2);
  for (const auto& route : host.routes()) {
    EXPECT_EQ(route.match().prefix(), "/");
    EXPECT_EQ(route.route().cluster(), "shop/web");
    EXPECT_TRUE(route.typed_per_filter_config().contains(kGateFilter));
  }
  ASSERT_EQ(host.routes(0).match().headers_size(), 3);
  const auto& method = host.routes(0).match().headers(0);
  EXPECT_EQ(method.name(), ":method");
  EXPECT_EQ(method.string_match().safe_regex().regex(), "GET|HEAD|OPTIONS|TRACE");
  // Neither with a body nor a websocket: each try could take all of the request timeout.
  EXPECT_EQ(host.routes(0).match().headers(1).name(), "content-length");
  EXPECT_EQ(host.routes(0).match().headers(2).name(), "upgrade");
  for (const int at : {1, 2}) {
    EXPECT_TRUE(host.routes(0).match().headers(at).present_match());
    EXPECT_TRUE(host.routes(0).match().headers(at).invert_match());
  }
  EXPECT_EQ(host.routes(0).route().retry_policy().retry_on(),
            "connect-failure,refused-stream,reset");
  EXPECT_EQ(host.routes(1).match().headers_size(), 0);
  const auto& retries = host.routes(1).route().retry_policy();
  EXPECT_EQ(retries.retry_on(), "connect-failure,refused-stream,reset-before-request");
  ASSERT_EQ(retries.retry_host_predicate_size(), 1);
  EXPECT_EQ(retries.retry_host_predicate(0).name(), "envoy.retry_host_predicates.previous_hosts");
  EXPECT_GE(retries.host_selection_retry_max_attempts(), 100);
}

// Another pod may have all that it is allowed to have.
TEST(RouteMessageTest, UnderAHardLimitNothingIsRepeated) {
  const auto host = RouteMessage({.service = "shop/web", .hard_limit = true}, "n").virtual_hosts(0);
  ASSERT_EQ(host.routes_size(), 1);
  EXPECT_EQ(host.routes(0).route().retry_policy().retry_on(),
            "connect-failure,refused-stream,reset-before-request");
}

TEST(ListenerMessageTest, HoldsTheGateBeforeTheRouter) {
  const auto listener = ListenerMessage({.service = "shop/web.v2", .port = 20001});
  EXPECT_EQ(listener.address().socket_address().port_value(), 20001u);
  const auto http =
      Unpacked<envoy::HttpConnectionManager>(listener.filter_chains(0).filters(0).typed_config());
  EXPECT_EQ(http.stat_prefix(), "shop/web_v2");
  EXPECT_EQ(http.rds().route_config_name(), "shop/web.v2");
  EXPECT_EQ(http.http_protocol_options().ignore_http_11_upgrade(0).prefix(), "TLS/");
  EXPECT_EQ(http.delayed_close_timeout().seconds(), 10);
  ASSERT_EQ(http.http_filters_size(), 2);
  EXPECT_EQ(http.http_filters(0).name(), "flyball.gate");
  const auto gate = Unpacked<envoy::ExternalProcessor>(http.http_filters(0).typed_config());
  EXPECT_EQ(gate.message_timeout().seconds(), 3600);  // more than Envoy refuses
  EXPECT_TRUE(gate.failure_mode_allow());
  EXPECT_EQ(gate.grpc_service().retry_policy().num_retries().value(), 600u);
}

// Where there is no IPv6 an Envoy would refuse the listener.
TEST(ListenerMessageTest, ListensOnIpv6WhereThereIsOne) {
  const Resource listener = ListenerResource{.service = "shop/web", .port = 20001};
  for (const bool ipv6 : {false, true}) {
    const auto message = Unpacked<envoy::Listener>(ResourceMessage(listener, "front-1", ipv6));
    const auto& address = message.address().socket_address();
    EXPECT_EQ(address.address(), ipv6 ? "::" : "0.0.0.0");
    EXPECT_EQ(address.ipv4_compat(), ipv6);
    EXPECT_EQ(address.port_value(), 20001u);
  }
}

TEST(ClusterMessageTest, SpeaksHttp2WhereThePodsDo) {
  const auto plain = ClusterMessage({.service = "shop/web"});
  EXPECT_FALSE(plain.has_load_balancing_policy());
  EXPECT_THAT(plain.typed_extension_protocol_options(), IsEmpty());
  EXPECT_EQ(
      ClusterMessage({.service = "shop/web", .h2c = true}).typed_extension_protocol_options_size(),
      1);
}

// The route's time limit begins when a request has been sent whole, which one may never be.
TEST(ClusterMessageTest, ATimeoutCountsFromWhenARequestGetsToItsPod) {
  for (const bool h2c : {false, true}) {
    const auto cluster = ClusterMessage(
        {.service = "shop/web", .h2c = h2c, .request_timeout = absl::Milliseconds(1500)});
    const auto options = Unpacked<envoy::HttpProtocolOptions>(
        cluster.typed_extension_protocol_options().begin()->second);
    const auto& limit = options.common_http_protocol_options().max_stream_duration();
    EXPECT_EQ(limit.seconds(), 1);
    EXPECT_EQ(limit.nanos(), 500'000'000);
    // Envoy refuses options without a version.
    EXPECT_EQ(options.explicit_http_config().has_http_protocol_options(), !h2c);
    EXPECT_EQ(options.explicit_http_config().has_http2_protocol_options(), h2c);
  }
}

TEST(ClusterMessageTest, AHardLimitTakesThePodOfTheAnswer) {
  const auto cluster = ClusterMessage({.service = "shop/web", .hard_limit = true});
  const auto policy = Unpacked<envoy::OverrideHost>(
      cluster.load_balancing_policy().policies(0).typed_extension_config().typed_config());
  EXPECT_EQ(policy.override_host_sources(0).metadata().key(), "flyball");
  EXPECT_EQ(policy.override_host_sources(0).metadata().path(0).key(), "pod");
  EXPECT_EQ(policy.fallback_policy().policies_size(), 1);
}

TEST(EndpointsMessageTest, AddressesOfBothFamilies) {
  const auto endpoints = EndpointsMessage(
      {.service = "shop/web", .addresses = {"10.0.0.7:8080", "[fd00::7]:8081", "nonsense"}});
  ASSERT_EQ(endpoints.endpoints_size(), 1);
  ASSERT_EQ(endpoints.endpoints(0).lb_endpoints_size(), 2);
  const auto& first = endpoints.endpoints(0).lb_endpoints(0).endpoint().address().socket_address();
  EXPECT_EQ(first.address(), "10.0.0.7");
  EXPECT_EQ(first.port_value(), 8080u);
  const auto& second = endpoints.endpoints(0).lb_endpoints(1).endpoint().address().socket_address();
  EXPECT_EQ(second.address(), "fd00::7");
  EXPECT_EQ(second.port_value(), 8081u);
  EXPECT_EQ(EndpointsMessage({.service = "shop/web"}).endpoints_size(), 0);
}

TEST(StatNameTest, DotsComeBack) {
  EXPECT_EQ(StatNameOf("shop/web.v2"), "shop/web_v2");
  EXPECT_EQ(ServiceOfStatName("shop/web_v2"), "shop/web.v2");
}

}  // namespace
}  // namespace flyball::front
