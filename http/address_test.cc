#include "http/address.h"

#include <gtest/gtest.h>

namespace flyball::http {
namespace {

TEST(IpAddressTest, MappedIsWhatHasThePrefixOfIpv4) {
  for (const absl::string_view text : {"::ffff:10.0.0.1", "::ffff:a00:1"}) {
    EXPECT_TRUE(IpAddress::Parse(text)->IsMapped()) << text;
  }
  for (const absl::string_view text :
       {"10.0.0.1", "::1", "::10.0.0.1", "fd00::ffff:5", "fd00::ffff:10.0.0.1", "::ffff:0:1:2"}) {
    EXPECT_FALSE(IpAddress::Parse(text)->IsMapped()) << text;
  }
}

TEST(EndpointTest, ParseReadsWhatToStringWrites) {
  for (const absl::string_view text : {"10.0.0.1:80", "[fd00::1]:65535"}) {
    const std::optional<Endpoint> read = Endpoint::Parse(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(read->ToString(), text);
  }
  for (const absl::string_view text :
       {"", ":", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:80x", "web:80",
        "fd00::1:80", "[fd00::1]", "[10.0.0.1]:80"}) {
    EXPECT_FALSE(Endpoint::Parse(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace flyball::http
