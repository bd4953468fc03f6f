#include "kube/objects/json_members.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace flyball::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(JsonMembersTest, WhatIsThereIsRead) {
  const auto object = nlohmann::ordered_json::parse(
      R"({"text":"a","number":7,"yes":true,"texts":["x",1,"y"],"inner":{"text":"b"}})");
  EXPECT_EQ(TextOf(object, "text"), "a");
  EXPECT_EQ(TextOf(MemberOf(object, "inner"), "text"), "b");
  EXPECT_EQ(NumberOf(object, "number"), 7);
  EXPECT_TRUE(IsTrue(object, "yes"));
  EXPECT_EQ(ItemsOf(object, "texts").size(), 3u);
  EXPECT_THAT(TextsOf(object, "texts"), ElementsAre("x", "y"));
}

TEST(JsonMembersTest, WhatHasAnotherShapeIsEmpty) {
  for (const char* text :
       {"null", "[]", "\"a\"", "1", "{}", R"({"a":null})", R"({"a":{}})", R"({"a":1.5})"}) {
    const auto object = nlohmann::json::parse(text);
    EXPECT_EQ(TextOf(object, "a"), "") << text;
    EXPECT_EQ(NumberOf(object, "a"), 0) << text;
    EXPECT_FALSE(IsTrue(object, "a")) << text;
    EXPECT_THAT(TextsOf(object, "a"), IsEmpty()) << text;
    EXPECT_EQ(TextOf(MemberOf(object, "b"), "c"), "") << text;
  }
  EXPECT_FALSE(IsTrue(nlohmann::json::parse(R"({"a":1})"), "a"));
}

TEST(TimeTextTest, IsUtcOfWholeSeconds) {
  EXPECT_EQ(TimeText(absl::FromUnixMillis(1'800'000'000'999)), "2027-01-15T08:00:00Z");
}

}  // namespace
}  // namespace flyball::kube
