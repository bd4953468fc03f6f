#include "base/go/number.h"

#include <cstdint>
#include <utility>

#include "gtest/gtest.h"

namespace flyball::go {
namespace {

TEST(ParseIntTest, BasesAndUnderscores) {
  const std::pair<const char*, int64_t> good[] = {
      {"0", 0},     {"443", 443},  {"+5", 5},
      {"-5", -5},   {"0x1F", 31},  {"0X1f", 31},
      {"017", 15},  {"0b11", 3},   {"0o17", 15},
      {"0_7", 7},   {"00", 0},     {"1_000", 1000},
      {"-0x8", -8}, {"0x_1F", 31}, {"9223372036854775807", INT64_MAX}};
  for (const auto& [text, want] : good) EXPECT_EQ(ParseInt(text), want) << text;
  for (const char* bad : {"", "-", "+", "x", "1.0", "1e3", " 1", "1 ", "08", "0x", "0b2", "1__0",
                          "_1", "1_", "--1", "9223372036854775808"}) {
    EXPECT_EQ(ParseInt(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace flyball::go
