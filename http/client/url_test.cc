#include "http/client/url.h"

#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace flyball::http {
namespace {

TEST(UrlParseTest, TakesTheTextApart) {
  const auto url = Url::Parse("https://us%40er:p%3Aw@Prom.Example:9090/base/path/?x=1");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->host, "prom.example");
  EXPECT_EQ(url->port, 9090);
  EXPECT_EQ(url->path, "/base/path");
  EXPECT_EQ(url->username, "us@er");
  EXPECT_EQ(url->password, "p:w");
  EXPECT_EQ(url->Origin(), "https://prom.example:9090");
}

TEST(UrlParseTest, PortsAndAddresses) {
  EXPECT_EQ(Url::Parse("http://a")->port, 80);
  EXPECT_EQ(Url::Parse("https://a/")->port, 443);
  EXPECT_EQ(Url::Parse("https://[::1]:6443")->host, "::1");
  EXPECT_EQ(Url::Parse("https://[::1]:6443")->Origin(), "https://[::1]:6443");
}

TEST(UrlParseTest, RefusalsDoNotShowThePassword) {
  for (const char* text :
       {"", "prometheus:9090", "ftp://x", "http://", "http://u:secret@", "http://u:secret@h:99999",
        "http://u:secret@h:x", "http://u:secret@h h", "http://[::1", "http://[::1]x"}) {
    const auto url = Url::Parse(text);
    EXPECT_FALSE(url.ok()) << text;
    EXPECT_FALSE(absl::StrContains(url.status().message(), "secret")) << url.status();
  }
}

struct UrlRow {
  std::string name;
  std::string target;
  std::string location;
  std::string origin;
  std::string want;
};

class ResolveRedirectTest : public testing::TestWithParam<UrlRow> {};

TEST_P(ResolveRedirectTest, Row) {
  const auto from = Url::Parse("http://h:9090/base");
  const auto got = ResolveRedirect(*from, GetParam().target, GetParam().location);
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->origin.Origin(), GetParam().origin);
  EXPECT_EQ(got->target, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, ResolveRedirectTest,
    testing::Values(UrlRow{"Absolute", "/a", "https://o/b?c=d", "https://o:443", "/b?c=d"},
                    UrlRow{"HostOnly", "/a", "https://o", "https://o:443", "/"},
                    UrlRow{"SameScheme", "/a", "//o/b", "http://o:80", "/b"},
                    UrlRow{"PathOnly", "/a?q", "/b", "http://h:9090", "/b"},
                    UrlRow{"Relative", "/a/b?q", "c", "http://h:9090", "/a/c"},
                    UrlRow{"QueryAlone", "/a/b?q", "?r", "http://h:9090", "/a/b?r"},
                    UrlRow{"TheQueryKeepsItsEncoding", "/a?query=x", "/b?query=a%2Bb%20c",
                           "http://h:9090", "/b?query=a%2Bb%20c"},
                    UrlRow{"OtherTextIsMadeSafe", "/a", "/b c?d=e f\r\nX: y", "http://h:9090",
                           "/b%20c?d=e%20f%0D%0AX:%20y"}),
    [](const auto& info) { return info.param.name; });

TEST(WithoutOriginTest, TakesAwayTheServerThatIsNamedAlready) {
  EXPECT_EQ(WithoutOrigin("http://a:9090: no", "http://a:9090"), "no");
  EXPECT_EQ(WithoutOrigin("http://a:80: no", "http://a"), "no");
  EXPECT_EQ(WithoutOrigin("https://prom.example:443: no", "https://Prom.example/path"), "no");
  EXPECT_EQ(WithoutOrigin("http://b:80: no", "http://a"), "http://b:80: no") << "another";
  EXPECT_EQ(WithoutOrigin("no", "http://a"), "no");
  EXPECT_EQ(WithoutOrigin("no", "nonsense"), "no");
}

}  // namespace
}  // namespace flyball::http
