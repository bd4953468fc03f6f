#include "kube/objects/resource_version.h"

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

TEST(IsOlderTest, VersionsAreComparedAsNumbers) {
  EXPECT_TRUE(IsOlder("9", "10"));
  EXPECT_FALSE(IsOlder("10", "9"));
  EXPECT_FALSE(IsOlder("10", "10"));
  EXPECT_TRUE(IsOlder("18446744073709551614", "18446744073709551615"));
  for (const char* no_number : {"", "x", "-1", "1x", "18446744073709551616"}) {
    EXPECT_FALSE(IsOlder(no_number, "1")) << no_number;
    EXPECT_FALSE(IsOlder("1", no_number)) << no_number;
  }
}

}  // namespace
}  // namespace flyball::kube
