#include "base/recently_used.h"

#include <gtest/gtest.h>

namespace flyball {
namespace {

TEST(RecentlyUsedTest, TheOneNotUsedForLongestIsTheOldest) {
  RecentlyUsed<int> values;
  EXPECT_EQ(values.Find("a"), nullptr);
  values["a"] = 1;
  values["b"] = 2;
  EXPECT_EQ(values.oldest(), 1);
  EXPECT_EQ(*values.Find("a"), 1);
  EXPECT_EQ(values.oldest(), 2);
  values["b"] = 3;
  EXPECT_EQ(values.oldest(), 1);
  values.EraseOldest();
  EXPECT_EQ(values.Find("a"), nullptr);
  EXPECT_EQ(values.size(), 1u);
}

TEST(RecentlyUsedTest, SomeAreErased) {
  RecentlyUsed<int> values;
  for (int i = 0; i < 10; ++i) values[std::to_string(i)] = i;
  values.EraseIf([](int value) { return value % 2 == 0; });
  EXPECT_EQ(values.size(), 5u);
  EXPECT_EQ(values.oldest(), 1);
  values.Erase("1");
  values.Erase("1");
  EXPECT_EQ(values.oldest(), 3);
  EXPECT_EQ(values["4"], 0);
}

}  // namespace
}  // namespace flyball
