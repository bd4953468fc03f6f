// The table of the listener for hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scaler/front/envoy/names.h"
#include "scaler/front/envoy/resource_message.h"

namespace flyball::front {
namespace {

using testing::ElementsAre;

HostRouteResource Route(const std::string& service, absl::string_view hosts,
                        absl::string_view headers = "", bool gated = true) {
  return {.service = service, .routes = ReadHostRoutes(hosts, "", headers).value(), .gated = gated};
}

bool IsGated(const envoy::Route& route) {
  envoy::ExtProcPerRoute gate;
  EXPECT_TRUE(gate.ParseFromString(route.typed_per_filter_config().at(kGateFilter).value()));
  return !gate.disabled();
}

bool IsForRepeatable(const envoy::Route& route) {
  const auto& headers = route.match().headers();
  return std::any_of(headers.begin(), headers.end(),
                     [](const envoy::HeaderMatcher& each) { return each.name() == ":method"; });
}

// A line for each host: "HOST: /path{headers}=SERVICE …", with a star where the gate is on.
std::vector<std::string> Lines(const std::vector<HostRouteResource>& routes,
                               const std::set<std::string>& still_gated = {}) {
  std::vector<const HostRouteResource*> all;
  for (const HostRouteResource& route : routes) all.push_back(&route);
  std::vector<std::string> lines;
  const envoy::RouteConfiguration message = HostsMessage(all, still_gated, "front-1");
  for (const envoy::VirtualHost& host : message.virtual_hosts()) {
    std::string line = absl::StrCat(host.domains(0), ":");
    for (const envoy::Route& route : host.routes()) {
      if (IsForRepeatable(route)) continue;  // the next one is for all others
      absl::StrAppend(&line, " ", route.match().prefix(), route.match().path_separated_prefix());
      for (const envoy::HeaderMatcher& header : route.match().headers()) {
        absl::StrAppend(&line, "{", header.name(), header.has_string_match() ? "=" : "",
                        header.string_match().exact(), "}");
      }
      absl::StrAppend(&line, "=", route.route().cluster(), IsGated(route) ? "*" : "");
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(HostsMessageTest, TheMostParticularRouteOfAHostIsFirst) {
  EXPECT_THAT(
      Lines({Route("s/all", "a.com"), Route("s/api", "a.com/api"),
             Route("s/beta", "a.com/api", "x-beta"), Route("s/acme", "a.com/api", "x-tenant=acme"),
             Route("s/both", "a.com", "x-beta,x-tenant=acme"), Route("s/deep", "a.com/api/v1")}),
      ElementsAre("a.com: /api/v1=s/deep* /api{x-tenant=acme}=s/acme* /api{x-beta}=s/beta* "
                  "/api=s/api* /{x-beta}{x-tenant=acme}=s/both* /=s/all*"));
}

TEST(HostsMessageTest, WhatAHostDoesNotTakeGoesToItsWildcards) {
  EXPECT_THAT(
      Lines({Route("s/one", "a.b.com/api"), Route("s/few", "*.b.com/v1"), Route("s/any", "*"),
             Route("s/far", "*.com")}),
      ElementsAre("*: /=s/any*", "*.b.com: /v1=s/few* /=s/far* /=s/any*",
                  "*.com: /=s/far* /=s/any*", "a.b.com: /api=s/one* /v1=s/few* /=s/far* /=s/any*"));
}

TEST(HostsMessageTest, EachRouteHasTheGateOfItsService) {
  EXPECT_THAT(Lines({Route("s/a", "a", "", false), Route("s/b", "b", "", true),
                     Route("s/c", "c", "", false)},
                    {"s/c"}),
              ElementsAre("a: /=s/a", "b: /=s/b*", "c: /=s/c*"));
}

// Else the one of a service would take what belongs to a more particular one of another.
TEST(HostsMessageTest, WhatMayBeRepeatedHasARouteBeforeEachOther) {
  const HostRouteResource all = Route("s/all", "a.com");
  const HostRouteResource api = Route("s/api", "a.com/api", "x-beta");
  const envoy::RouteConfiguration table = HostsMessage({&all, &api}, {}, "front-1");
  std::vector<std::string> routes;
  for (const envoy::Route& route : table.virtual_hosts(0).routes()) {
    routes.push_back(absl::StrCat(route.route().cluster(), IsForRepeatable(route) ? " safe" : "",
                                  " ", route.match().headers_size()));
  }
  EXPECT_THAT(routes, ElementsAre("s/api safe 4", "s/api 1", "s/all safe 3", "s/all 0"));
}

TEST(HostsMessageTest, APortOfTheHostHeaderDoesNotMatter) {
  const HostRouteResource route = Route("s/a", "a");
  const envoy::RouteConfiguration table = HostsMessage({&route}, {}, "front-1");
  EXPECT_TRUE(table.ignore_port_in_host_matching());
  EXPECT_EQ(table.name(), "hosts");
  EXPECT_FALSE(table.validate_clusters().value());
}

}  // namespace
}  // namespace flyball::front
