#include "base/go/yaml_words.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace flyball::go
