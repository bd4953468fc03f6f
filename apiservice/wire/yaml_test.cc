#include "apiservice/wire/yaml.h"

#include <gtest/gtest.h>

namespace flyball::apiservice::wire {
namespace {

TEST(YamlFromJsonTest, SortsKeysAndQuotesWhatYamlWouldMisread) {
  EXPECT_EQ(
      YamlFromJson(
          R"({"b":"true","a":[{"x":"1500m","z":null,"t":true}],"c":{},"d":[],"e":7,"f":"cart-1"})"),
      "a:\n  - t: true\n    x: \"1500m\"\n    z: ~\nb: \"true\"\nc: {}\nd: []\ne: 7\nf: cart-1\n");
}

TEST(YamlFromJsonTest, NotJsonIsEmpty) { EXPECT_EQ(YamlFromJson("{"), ""); }

}  // namespace
}  // namespace flyball::apiservice::wire
