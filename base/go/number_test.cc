#include "base/go/number.h"

#include <cmath>
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

TEST(ParseDecimalTest, DigitsBehindOneSign) {
  EXPECT_EQ(ParseDecimal("017"), 17);
  EXPECT_EQ(ParseDecimal("+5"), 5);
  EXPECT_EQ(ParseDecimal("-9223372036854775808"), INT64_MIN);
  for (const char* bad :
       {"", "-", "+", "+-5", "--5", "1_0", "0x1", "1.0", " 1", "1 ", "9223372036854775808"}) {
    EXPECT_EQ(ParseDecimal(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(ParseDecimal32("-2147483648"), INT32_MIN);
  EXPECT_EQ(ParseDecimal32("2147483648"), std::nullopt);
}

// What Go 1.26 answers to each.
TEST(ParseFloatTest, AsGoReads) {
  const std::pair<const char*, double> good[] = {
      {"1_000", 1000}, {"0x_1p3", 8},     {"0x1_0p1", 32},    {"5.", 5},
      {".5", 0.5},     {"+5", 5},         {"-5", -5},         {"010.5", 10.5},
      {"1e-400", 0},   {"inf", HUGE_VAL}, {"+Inf", HUGE_VAL}, {"-infinity", -HUGE_VAL}};
  for (const auto& [text, want] : good) EXPECT_EQ(ParseFloat(text), want) << text;
  EXPECT_TRUE(std::isnan(ParseFloat("NaN").value_or(0)));
  for (const char* bad : {"", ".", "1e", "--5", "+-5", " 5", "0b1", "0o7", "1i", "+nan", "1e400",
                          "0x1", "0x1p", "1__0", "x"}) {
    EXPECT_EQ(ParseFloat(bad), std::nullopt) << bad;
  }
}

TEST(ParseBoolTest, TwelveWords) {
  EXPECT_EQ(ParseBool("T"), true);
  EXPECT_EQ(ParseBool("False"), false);
  for (const char* bad : {"", "yes", "tRUE", "2", " 1"}) EXPECT_EQ(ParseBool(bad), std::nullopt);
}

}  // namespace
}  // namespace flyball::go
