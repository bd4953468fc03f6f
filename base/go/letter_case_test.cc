#include "base/go/letter_case.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace flyball::go {
namespace {

// FNV-1a of three bytes each of the upper and the lower case of every code point.
TEST(LetterCaseTest, EveryCharacterIsAsInGo) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&hash](char32_t rune) {
    for (int shift = 0; shift < 24; shift += 8) {
      hash = (hash ^ ((rune >> shift) & 0xFF)) * 0x100000001b3;
    }
  };
  for (char32_t rune = 0; rune <= 0x10FFFF; ++rune) {
    add(ToUpper(rune));
    add(ToLower(rune));
  }
  EXPECT_EQ(hash, 0x4308e2a1fd759338u);
}

TEST(LetterCaseTest, TextIsChangedCharacterByCharacter) {
  EXPECT_EQ(ToLower("ÄÖ Straße-1 ǅ"), "äö straße-1 ǆ");
  EXPECT_EQ(ToUpper("äö straße-1 ǅ"), "ÄÖ STRAßE-1 Ǆ");
  EXPECT_EQ(ToUpper("a\xFF"), "A\uFFFD");
}

}  // namespace
}  // namespace flyball::go
