#include "base/joined_key.h"

#include <gtest/gtest.h>

namespace flyball {
namespace {

TEST(JoinedKeyTest, OtherTextsMakeAnotherKey) {
  EXPECT_EQ(JoinedKey("a", "b"), JoinedKey("a", "b"));
  EXPECT_NE(JoinedKey("a", "b"), JoinedKey("ab", ""));
  EXPECT_NE(JoinedKey("a", "b"), JoinedKey("a"));
  EXPECT_NE(JoinedKey("a1:b"), JoinedKey("a", "b"));
  EXPECT_NE(JoinedKey("a\xff", "b"), JoinedKey("a",
                                               "\xff"
                                               "b"));
  EXPECT_NE(JoinedKey("", ""), JoinedKey(""));
}

}  // namespace
}  // namespace flyball
