#include "base/one_line.h"

#include <gtest/gtest.h>

namespace flyball {
namespace {

TEST(OneLineTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(OneLine("a\nb\tc\r\x1b[31m\x7f"), R"(a\nb\x09c\x0d\x1b[31m\x7f)");
  EXPECT_EQ(OneLine(absl::string_view("\0", 1)), R"(\x00)");
  EXPECT_EQ(OneLine("\xc2\x9b"
                    "31m"),
            R"(\xc2\x9b31m)");
  EXPECT_EQ(OneLine("\xc2\x9b\xc2\x9c"), R"(\xc2\x9b\xc2\x9c)");
}

TEST(OneLineTest, OtherTextStaysAsItIs) {
  EXPECT_EQ(OneLine(""), "");
  EXPECT_EQ(OneLine("letters: \xc3\xa4\xc2\xa7, C:\\new, \xff \xc2"),
            "letters: \xc3\xa4\xc2\xa7, C:\\new, \xff \xc2");
}

TEST(BriefTextTest, CutsBetweenCharacters) {
  EXPECT_EQ(BriefText("abc", 3), "abc");
  EXPECT_EQ(BriefText("abcd", 3), "abc...");
  EXPECT_EQ(BriefText("ab\u00e9", 3), "ab...");
}

TEST(AbridgedTest, CutsBetweenCharacters) {
  EXPECT_EQ(Abridged("abc", 3), "abc");
  EXPECT_EQ(Abridged("abcd", 3), "abc... (1 bytes more)");
  EXPECT_EQ(Abridged("ab\u00e9", 3), "ab... (2 bytes more)");
  EXPECT_EQ(Abridged("\x80\x80\x80\x80\x80\x80", 5), "\x80\x80... (4 bytes more)");
}

}  // namespace
}  // namespace flyball
