#include "kube/objects/yaml_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace flyball::kube {
namespace {

constexpr char kJson[] =
    R"({"b":"true","a":[{"x":"1500m","z":null,"t":true}],"c":{},"d":[],"e":7,"f":"cart-1"})";

TEST(YamlOfTest, SortsKeysAndQuotesWhatYamlWouldMisread) {
  EXPECT_EQ(
      YamlOf(nlohmann::json::parse(kJson)),
      "a:\n  - t: true\n    x: \"1500m\"\n    z: ~\nb: \"true\"\nc: {}\nd: []\ne: 7\nf: cart-1\n");
}

TEST(YamlOfTest, KeepsTheOrderOfKeysThatAreNotSorted) {
  EXPECT_EQ(
      YamlOf(nlohmann::ordered_json::parse(kJson)),
      "b: \"true\"\na:\n  - x: \"1500m\"\n    z: ~\n    t: true\nc: {}\nd: []\ne: 7\nf: cart-1\n");
}

}  // namespace
}  // namespace flyball::kube
