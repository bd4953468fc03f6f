#include "http/address.h"

#include <gtest/gtest.h>

namespace flyball::http {
namespace {

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
