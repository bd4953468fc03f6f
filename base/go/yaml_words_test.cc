#include "base/go/yaml_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace flyball::go {
namespace {

TEST(YamlWordsTest, AreThoseOfYaml11InThreeSpellings) {
  EXPECT_EQ(YamlBool("y"), true);
  EXPECT_EQ(YamlBool("On"), true);
  EXPECT_EQ(YamlBool("OFF"), false);
  EXPECT_EQ(YamlBool("oN"), std::nullopt);
  EXPECT_EQ(YamlBool(""), std::nullopt);
  EXPECT_TRUE(IsYamlNull("~"));
  EXPECT_TRUE(IsYamlNull("Null"));
  EXPECT_FALSE(IsYamlNull("nULL"));
  EXPECT_FALSE(IsYamlNull(""));
  EXPECT_TRUE(IsYamlSpecialNumber("-.Inf"));
  EXPECT_TRUE(IsYamlSpecialNumber(".NaN"));
  EXPECT_FALSE(IsYamlSpecialNumber("-.nan"));
}

// Each answer is that of yaml.v2 2.4.0.
TEST(YamlTypeOfTest, NumbersAndTimesAreThoseOfGo) {
  const struct {
    YamlType type;
    std::vector<const char*> texts;
  } rows[] = {
      {YamlType::kNull, {"", "~"}},
      {YamlType::kBool, {"y", "Off"}},
      {YamlType::kInt,
       {"0", "-0", "017", "0o17", "0x_1F", "1_000", "-0b11", "0b-11", "-9223372036854775808"}},
      {YamlType::kUint, {"9223372036854775808", "18446744073709551615"}},
      {YamlType::kFloat,
       {".5", "+.5", ".5_0", "1.", "1e3", "08", "-.Inf", "99999999999999999999",
        "+18446744073709551615"}},
      {YamlType::kTime,
       {"2001-1-2", "2000-02-29", "2001-1-1   1:2:3,5", "2001-1-2t3:4:5.6Z",
        "2001-1-2T3:4:5+24:60"}},
      {YamlType::kText,
       {"a", "<<", "_1", "-", "0x", "1e", "1e999", "0x1p-2", "1:30", "+.nan", "2001-02-29",
        "2001-1-1 1:2:3Z", "2001-1-1T1:2:3", "2001-1-1T24:0:0Z"}},
  };
  for (const auto& row : rows) {
    for (const char* text : row.texts) EXPECT_EQ(YamlTypeOf(text), row.type) << text;
  }
}

}  // namespace
}  // namespace flyball::go
