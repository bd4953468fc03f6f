#include "base/go/url.h"

#include <string>

#include "gtest/gtest.h"

namespace flyball::go {
namespace {

// What Go 1.22's url.QueryEscape gives.
TEST(UrlTest, EscapesAllButUnreservedCharacters) {
  EXPECT_EQ(QueryEscape("a b&c=d/é~-_.\xff"), "a+b%26c%3Dd%2F%C3%A9~-_.%FF");
  EXPECT_EQ(UrlEscape("a b+c"), "a%20b%2Bc");
  EXPECT_EQ(QueryEscape(""), "");
  const std::string out = QueryEscape(std::string(1000, '/') + "x");
  EXPECT_EQ(out.size(), 3000 + 1);
  EXPECT_EQ(out.substr(out.size() - 4), "%2Fx");
}

TEST(UrlTest, ARequestLineKeepsItsEscapesAndDelimiters) {
  EXPECT_EQ(EscapeForRequestLine("/a%2Fb?c=d&e=[f]"), "/a%2Fb?c=d&e=[f]");
  EXPECT_EQ(EscapeForRequestLine("/ü <x>\r\n#"), "/%C3%BC%20%3Cx%3E%0D%0A%23");
}

TEST(UrlTest, APathKeepsItsDelimiters) {
  EXPECT_EQ(EscapePath("/a b/$&+,:;=@-_.~?#%!*()'\xc3\xa9"),
            "/a%20b/$&+,:;=@-_.~%3F%23%25%21%2A%28%29%27%C3%A9");
}

TEST(UrlTest, UnescapesWhatIsWellFormed) {
  EXPECT_EQ(Unescape("a%2Fb%c3%A9+c", false), "a/b\xC3\xA9+c");
  EXPECT_EQ(Unescape("a+b%2B", true), "a b+");
  EXPECT_EQ(Unescape("100%&%2&%zz&%41", false), "100%&%2&%zz&A");
  EXPECT_TRUE(IsWellEscaped("a%2Fb"));
  for (const char* bad : {"%", "a%2", "%zz", "%2g", "%41%"})
    EXPECT_FALSE(IsWellEscaped(bad)) << bad;
}

TEST(UrlTest, EachByteComesBack) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    EXPECT_EQ(Unescape(QueryEscape(one), true), one) << byte;
    EXPECT_EQ(Unescape(UrlEscape(one), false), one) << byte;
  }
}

}  // namespace
}  // namespace flyball::go
