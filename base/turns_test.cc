#include "base/turns.h"

#include <gtest/gtest.h>

#include <string>

namespace flyball {
namespace {

TEST(TurnsTest, EverybodyHasATurnAndTheOrderOfEachIsKept) {
  Turns<std::string> turns;
  for (const char* item : {"a1", "a2", "a3", "a4"}) turns.Push("a", item);
  turns.Push("b", "b1");
  EXPECT_EQ(turns.Pop(), "a1");
  turns.Push("c", "c1");
  turns.Push("b", "b2");
  EXPECT_EQ(turns.size(), 6u);
  EXPECT_EQ(turns.SizeOf("a"), 3u);
  std::string rest;
  while (!turns.empty()) rest += turns.Pop();
  EXPECT_EQ(rest, "b1a2c1b2a3a4");
  EXPECT_EQ(turns.SizeOf("a"), 0u);
}

}  // namespace
}  // namespace flyball
