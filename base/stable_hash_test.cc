#include "base/stable_hash.h"

#include "gtest/gtest.h"

namespace flyball {
namespace {

// Values of the reference implementation (draft-eastlake-fnv): no version may give others.
TEST(StableHashTest, IsFnv1a) {
  EXPECT_EQ(StableHash(""), 0xcbf29ce484222325);
  EXPECT_EQ(StableHash("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(StableHash("foobar"), 0x85944171f73967e8);
  EXPECT_EQ(StableHash("\xff"), 0xaf64724c8602eb6e);
}

}  // namespace
}  // namespace flyball
