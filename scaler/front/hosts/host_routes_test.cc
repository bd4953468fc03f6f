#include "scaler/front/hosts/host_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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
  const std::string value(1000, 'v');
  EXPECT_THAT(Refused("a", "", absl::StrCat("x=", value, ",y=", value, ",z=", value)),
              HasSubstr("headers: must have at most 2048 bytes together"));
  std::string many;
  for (int i = 0; i < 101; ++i) absl::StrAppend(&many, "h", i, ",");
  EXPECT_THAT(Refused(many), HasSubstr("hosts: with their paths they must be at most 100"));
}

// With a place for each pair these would be billions of places, and end the process.
TEST(HostRoutesTest, LongListsMakeNothingOfTheSizeOfTheirProduct) {
  constexpr int kItems = 60'000;
  std::string same_hosts, same_paths, hosts, paths;
  for (int i = 0; i < kItems; ++i) {
    absl::StrAppend(&same_hosts, "a,");
    absl::StrAppend(&same_paths, "/b,");
    absl::StrAppend(&hosts, "h", i, ",");
    absl::StrAppend(&paths, "/p", i, ",");
  }
  EXPECT_THAT(Read(same_hosts, same_paths).places, ElementsAre(HostPlace{"a", "/b"}));
  const auto too_many = HasSubstr("hosts: with their paths they must be at most 100");
  EXPECT_THAT(Refused(hosts, paths), too_many);
  EXPECT_THAT(Refused(hosts, same_paths), too_many);
  EXPECT_THAT(Refused(same_hosts, paths), too_many);
  EXPECT_THAT(Read("a/x", paths).places, ElementsAre(HostPlace{"a", "/x"}));
  // At the limit, and with all of the same hosts.
  std::string hundred;
  for (int i = 0; i < 100; ++i) absl::StrAppend(&hundred, "/p", i, ",");
  EXPECT_EQ(Read(same_hosts, hundred).places.size(), 100u);
  EXPECT_THAT(Refused(same_hosts + "a/x", hundred), too_many);
}

TEST(HostRoutesTest, TheWildcardsAboveAHost) {
  const auto above = [](absl::string_view host) {
    std::vector<std::string> found;
    ForEachWildcardAbove(host, [&](const std::string& each) { found.push_back(each); });
    return found;
  };
  EXPECT_THAT(above("a.b.example.com"),
              ElementsAre("*.b.example.com", "*.example.com", "*.com", "*"));
  EXPECT_THAT(above("*.b.example.com"), ElementsAre("*.example.com", "*.com", "*"));
  EXPECT_THAT(above("*.com"), ElementsAre("*"));
  EXPECT_THAT(above("anything"), ElementsAre("*"));
  EXPECT_THAT(above("*"), ElementsAre());
}

TEST(HostClaimsTest, TheOldestHasAHost) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  const auto grants = GrantHosts({{"shop/new", then + absl::Seconds(1), Read("a,b/api")},
                                  {"shop/old", then, Read("a,b")},
                                  {"shop/other", then + absl::Seconds(2), Read("a", "", "x=1")}});
  EXPECT_EQ(grants.at("shop/old"), (HostGrant{Read("a,b"), ""}));
  EXPECT_EQ(grants.at("shop/new"),
            (HostGrant{Read("b/api"), "a is led to shop/old, which had it first"}));
  // Other headers are another route.
  EXPECT_EQ(grants.at("shop/other"), (HostGrant{Read("a", "", "x=1"), ""}));
}

// Whoever it is, and however old.
TEST(HostClaimsTest, WhoHasARouteKeepsItForAsLongAsItAsksForIt) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  std::vector<HostClaim> claims = {
      {"shop/web", then, Read("shop.example.com"), Read("shop.example.com,was.example.com")},
      {"evil/old", then - absl::Hours(1), Read("shop.example.com/login,was.example.com")},
      {"shop/old", then - absl::Hours(2), Read("shop.example.com"), Read("other.example.com")}};
  auto grants = GrantHosts(claims);
  EXPECT_EQ(grants.at("shop/web"), (HostGrant{Read("shop.example.com"), ""}));
  EXPECT_EQ(grants.at("evil/old"),
            (HostGrant{Read("was.example.com"),
                       "shop.example.com/login is a host of namespace shop, whose shop/web had it "
                       "first"}));
  EXPECT_EQ(grants.at("shop/old").refused,
            "shop.example.com is led to shop/web, which had it first");
  // An edit of the path or of the headers leaves the host where it is.
  claims[0].routes = Read("shop.example.com/api", "", "x=1");
  grants = GrantHosts(claims);
  EXPECT_EQ(grants.at("shop/web"), (HostGrant{claims[0].routes, ""}));
  EXPECT_EQ(grants.at("evil/old").routes, Read("was.example.com"));
  claims[0].routes = Read("shop.example.com");
  // With other headers it is another route.
  claims[0].had = Read("shop.example.com", "", "x=1");
  grants = GrantHosts(claims, {.shared = true});
  EXPECT_EQ(grants.at("shop/old").routes, Read("shop.example.com"));
}

TEST(HostRoutesTest, AreReadAsTheyAreWritten) {
  const HostRoutes routes = Read("a.example.com,*.b.example.com/api,*", "", "x,y=1 2");
  EXPECT_EQ(Read(absl::StrJoin(TextsOf(routes.places), ","), "",
                 absl::StrJoin(TextsOf(routes.headers), ",")),
            routes);
}

TEST(HostClaimsTest, OfTheSameSecondTheFirstByNameIsOlder) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  const auto grants =
      GrantHosts({{"shop/b", then, Read("a/x", "", "h")}, {"shop/a", then, Read("a/x", "", "h")}});
  EXPECT_EQ(grants.at("shop/a").refused, "");
  EXPECT_EQ(grants.at("shop/b").refused, "a/x with h is led to shop/a, which had it first");
  EXPECT_TRUE(grants.at("shop/b").routes.empty());
}

TEST(HostClaimsTest, AHostIsTheNamespacesThatHasItFirst) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  const std::vector<HostClaim> claims = {
      {"shop/web", then, Read("shop.example.com")},
      {"shop/login", then + absl::Seconds(2), Read("shop.example.com/login")},
      {"other/web", then + absl::Seconds(1), Read("shop.example.com/login,*.example.com")},
      {"other/all", then + absl::Seconds(1), Read("shop.example.com", "", "user-agent")}};
  auto grants = GrantHosts(claims);
  EXPECT_EQ(grants.at("shop/login"), (HostGrant{Read("shop.example.com/login"), ""}));
  EXPECT_EQ(grants.at("other/web"),
            (HostGrant{Read("*.example.com"),
                       "shop.example.com/login is a host of namespace shop, whose shop/web "
                       "had it first"}));
  EXPECT_TRUE(grants.at("other/all").routes.empty());
  grants = GrantHosts(claims, {.shared = true});
  EXPECT_EQ(grants.at("other/web").refused, "");
  EXPECT_EQ(grants.at("other/all").refused, "");
  EXPECT_EQ(grants.at("shop/login").refused,
            "shop.example.com/login is led to other/web, which had it first");
}

TEST(HostClaimsTest, ANamespacesRoutesHaveALimit) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  std::string hosts;
  for (int i = 0; i < 20; ++i) absl::StrAppend(&hosts, "h", i, ".example.com,");
  const auto grants = GrantHosts({{"a/web", then, Read(hosts)}, {"b/web", then, Read("b.org")}},
                                 {.bytes = 10 * RouteBytes({"h10.example.com", "/"}, {})});
  EXPECT_EQ(grants.at("a/web").routes.places.size(), 10u);
  EXPECT_THAT(grants.at("a/web").refused, HasSubstr("bytes that the routes of a namespace have"));
  EXPECT_THAT(grants.at("a/web").refused, HasSubstr("; and 5 more"));
  EXPECT_EQ(grants.at("b/web").refused, "");
}

TEST(HostClaimsTest, WhatWildcardsRepeatHasALimitOfTheirNamespace) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  std::string hosts;
  for (int i = 0; i < 20; ++i) absl::StrAppend(&hosts, "h", i, ".example.com,");
  const size_t wildcard = RouteBytes({"*.example.com", "/"}, {});
  const std::vector<HostClaim> claims = {{"a/all", then, Read("*.example.com,*")},
                                         {"b/web", then, Read(hosts)}};
  EXPECT_EQ(GrantHosts(claims, {.repeated_bytes = 45 * wildcard}).at("a/all").refused, "");
  const auto grants = GrantHosts(claims, {.repeated_bytes = 30 * wildcard});
  EXPECT_EQ(grants.at("a/all").routes, Read("*"));
  EXPECT_THAT(grants.at("a/all").refused,
              testing::StartsWith("*.example.com would be repeated for 20 hosts"));
  EXPECT_EQ(grants.at("b/web").refused, "");
}

TEST(HostClaimsTest, WildcardsAreBelowWildcards) {
  const absl::Time then = absl::FromUnixSeconds(1000);
  const std::vector<HostClaim> claims = {
      {"a/all", then, Read("*,*.com,*.b.com")},
      {"b/web", then, Read("com,b.com,a.b.com,*.a.b.com,c.ab.com,b.com.org")}};
  const auto refused = [&](size_t below, const std::string& host) {
    const size_t bytes = RouteBytes({host, "/"}, {});
    return GrantHosts(claims, {.repeated_bytes = below * bytes - 1}).at("a/all").refused;
  };
  EXPECT_THAT(refused(2, "*.b.com"), HasSubstr("*.b.com would be repeated for 2 hosts"));
  EXPECT_THAT(refused(5, "*.com"), HasSubstr("*.com would be repeated for 5 hosts"));
  EXPECT_THAT(refused(8, "*"), HasSubstr("* would be repeated for 8 hosts"));
}

TEST(HostClaimsTest, HostsOfManyLabelsCostNoMoreThanOthers) {
  const auto time_of = [](const std::string& long_part) {
    std::vector<HostClaim> claims;
    for (int i = 0; i < 100; ++i) {
      HostClaim& claim = claims.emplace_back();
      claim.service = absl::StrCat("namespace", i % 10, "/", i);
      for (int k = 0; k < 50; ++k) {
        claim.routes.places.push_back({absl::StrCat(long_part, "b", 50 * i + k, ".org"), "/"});
      }
    }
    const std::clock_t start = std::clock();  // the processor's time
    EXPECT_EQ(GrantHosts(std::move(claims)).size(), 100u);
    return std::clock() - start;
  };
  std::string many_labels;
  for (int i = 0; i < 120; ++i) absl::StrAppend(&many_labels, "a.");
  const std::string one_label(many_labels.size(), 'a');
  EXPECT_LT(time_of(many_labels), 5 * time_of(one_label));
}

}  // namespace
}  // namespace flyball::front
