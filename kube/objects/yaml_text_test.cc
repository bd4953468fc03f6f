#include "kube/objects/yaml_text.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

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

TEST(LoadYamlDocuments, WhatYamlCppNeverEndsOnIsAnError) {
  for (const char* const text : {",", " , a", "--- ,", "a: 1\n---\n,", "- a\n--- ,,"}) {
    EXPECT_THROW(LoadYamlDocuments(text), YAML::ParserException) << text;
  }
}

TEST(LoadYamlDocuments, AllOthersAreThoseOfYamlCpp) {
  for (const char* const text :
       {"", "a", "---", "---\n---\n---\n", "---\n...\n---\n...\n", "a: 1\n---\nb: [2, 3]\n",
        "{a} b", "--- a\n--- b\n", "\"x\" \"y\"", "# nothing\n", "--- !t\n--- &a\n"}) {
    EXPECT_EQ(LoadYamlDocuments(text).size(), YAML::LoadAll(text).size()) << text;
  }
}

}  // namespace
}  // namespace flyball::kube
