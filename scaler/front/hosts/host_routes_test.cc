#include "scaler/front/hosts/host_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "scaler/front/hosts/host_claims.h"

namespace flyball::front {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

HostRoutes Read(absl::string_view hosts, absl::string_view paths = "",
                absl::string_view headers = "") {
  const auto routes = ReadHostRoutes(hosts, paths, headers);
  EXPECT_TRUE(routes.ok()) << routes.status();
  return routes.value_or(HostRoutes());
}

std::string Refused(absl::string_view hosts, absl::string_view paths = "",
                    absl::string_view headers = "") {
  return std::string(ReadHostRoutes(hosts, paths, headers).status().message());
}

TEST(HostRoutesTest, HostsTakeThePrefixesUnlessTheySayOne) {
  EXPECT_THAT(Read("Shop.Example.com, *.example.org/v1/", "/api,/").places,
              ElementsAre(HostPlace{"*.example.org", "/v1"}, HostPlace{"shop.example.com", "/"},
                          HostPlace{"shop.example.com", "/api"}));
  EXPECT_THAT(Read("*").places, ElementsAre(HostPlace{"*", "/"}));
  EXPECT_TRUE(Read("").empty());
}

TEST(HostRoutesTest, HeadersMayHaveAValue) {
  EXPECT_THAT(Read("*", "", "X-Tenant=a=b, x-beta").headers,
              ElementsAre(HeaderNeed{"x-beta", std::nullopt}, HeaderNeed{"x-tenant", "a=b"}));
}

TEST(HostRoutesTest, WhatIsWrongIsToldByItsKey) {
  for (const char* host : {"shop.example.com:80", "*.*.example.com", "a..b", "http://a", "-a.b",
                           "*a.example.com", "a b", "ä.de"}) {
    EXPECT_THAT(Refused(host), testing::StartsWith("hosts: \"")) << host;
  }
  EXPECT_THAT(Refused("a", "api"), HasSubstr("pathPrefixes: \"api\" is no path"));
  EXPECT_THAT(Refused("a", "/a?b=c"), HasSubstr("pathPrefixes: "));
  EXPECT_THAT(Refused("a", "", "x y"), HasSubstr("headers: \"x y\" is no header"));
  EXPECT_THAT(Refused("a", "", "x="), HasSubstr("has no value"));
  EXPECT_THAT(Refused("", "/api"), HasSubstr("hosts: pathPrefixes and headers are looked at only"));
  std::string many;
  for (int i = 0; i < 101; ++i) absl::StrAppend(&many, "h", i, ",");
  EXPECT_THAT(Refused(many), HasSubstr("hosts: with their paths they must be at most 100"));
}

TEST(HostRoutesTest, WildcardsHoldAllBelowThem) {
  EXPECT_TRUE(HostIsWithin("a.b.example.com", "*.example.com"));
  EXPECT_TRUE(HostIsWithin("*.b.example.com", "*.example.com"));
  EXPECT_TRUE(HostIsWithin("anything", "*"));
  EXPECT_FALSE(HostIsWithin("example.com", "*.example.com"));
  EXPECT_FALSE(HostIsWithin("badexample.com", "*.example.com"));
  EXPECT_FALSE(HostIsWithin("a.example.com", "b.example.com"));
}

TEST(HostClaimsTest, TheOldestHasAHost) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  const auto grants = GrantHosts({{"shop/new", then + absl::Seconds(1), Read("a,b/api")},
                                  {"shop/old", then, Read("a,b")},
                                  {"shop/other", then + absl::Seconds(2), Read("a", "", "x=1")}});
  EXPECT_EQ(grants.at("shop/old"), (HostGrant{Read("a,b"), ""}));
  EXPECT_EQ(grants.at("shop/new"),
            (HostGrant{Read("b/api"), "a is led to shop/old, which is older"}));
  // Other headers are another route.
  EXPECT_EQ(grants.at("shop/other"), (HostGrant{Read("a", "", "x=1"), ""}));
}

TEST(HostClaimsTest, OfTheSameSecondTheFirstByNameIsOlder) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  const auto grants =
      GrantHosts({{"shop/b", then, Read("a/x", "", "h")}, {"shop/a", then, Read("a/x", "", "h")}});
  EXPECT_EQ(grants.at("shop/a").refused, "");
  EXPECT_EQ(grants.at("shop/b").refused, "a/x with h is led to shop/a, which is older");
  EXPECT_TRUE(grants.at("shop/b").routes.empty());
}

}  // namespace
}  // namespace flyball::front
