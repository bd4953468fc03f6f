#include "kube/objects/yaml_documents.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

namespace flyball::kube {
namespace {

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
