#include "apiservice/requests/url.h"

#include <string>

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

TEST(ParseTargetTest, DecodesEachSegmentOnItsOwn) {
  const auto target = ParseTarget("/apis/a%2Fb/%2A/x+y/sp%20ace?labelSelector=a%3Db+c&x=1&x=2");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->segments, (std::vector<std::string>{"apis", "a/b", "*", "x+y", "sp ace"}));
  EXPECT_EQ(target->path, "/apis/a/b/*/x+y/sp ace");
  EXPECT_EQ(target->query.Value("labelSelector"), "a=b c");
  EXPECT_EQ(target->query.Value("x"), "1");  // the first wins
  EXPECT_EQ(target->query.AllShown("x"), (std::vector<std::string>{"1", "2"}));
}

TEST(ParseTargetTest, SlashesLeaveEmptySegments) {
  EXPECT_EQ(ParseTarget("/apis//x/")->segments, (std::vector<std::string>{"apis", "", "x", ""}));
  EXPECT_EQ(ParseTarget("/")->segments, (std::vector<std::string>{""}));
}

TEST(ParseTargetTest, RefusesBrokenEscapesInThePathOnly) {
  EXPECT_FALSE(ParseTarget("/a%2").ok());
  EXPECT_FALSE(ParseTarget("/a%zz").ok());
  EXPECT_FALSE(ParseTarget("no-slash").ok());
  EXPECT_FALSE(ParseTarget("").ok());
  const auto target = ParseTarget("/a?b=%zz&c=d;e&f=g");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_FALSE(target->query.Has("b"));
  EXPECT_FALSE(target->query.Has("c"));
  EXPECT_EQ(target->query.Value("f"), "g");
}

// Clients keep the fragments of URLs to themselves.
TEST(ParseTargetTest, AHashIsACharacterLikeOthers) {
  const auto target = ParseTarget("/a#b?c=d#e");
  ASSERT_TRUE(target.ok()) << target.status();
  EXPECT_EQ(target->path, "/a#b");
  EXPECT_EQ(target->query.Value("c"), "d#e");
}

TEST(ParseTargetTest, TheOriginOfAWholeUrlDoesNotMatter) {
  for (const char* text :
       {"http://host:80/livez?a=b", "https://u@[::1]/livez?a=b", "x://h/livez?a=b"}) {
    const auto target = ParseTarget(text);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->path, "/livez") << text;
    EXPECT_EQ(target->query.Value("a"), "b") << text;
  }
  EXPECT_EQ(ParseTarget("http://host")->path, "/");
  EXPECT_EQ(ParseTarget("http://host?a=b")->path, "/");
  EXPECT_EQ(ParseTarget("http://host?a=b")->query.Value("a"), "b");
  EXPECT_EQ(ParseTarget("/a?b=http://c/d")->path, "/a");
  EXPECT_EQ(ParseTarget("/http://c/d")->path, "/http://c/d");
  EXPECT_FALSE(ParseTarget("mailto:x").ok());
}

TEST(ParseTargetTest, PathsAndParametersAreLimited) {
  EXPECT_TRUE(ParseTarget("/" + std::string(Target::kMaxPathBytes - 1, '/')).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(
      ParseTarget("/" + std::string(Target::kMaxPathBytes, '/')).status()));
  std::string many = "/?";
  for (size_t i = 0; i < Query::kMaxParameters - 1; ++i) many += "a&";
  EXPECT_TRUE(ParseTarget(many + "a").ok());
  EXPECT_TRUE(absl::IsInvalidArgument(ParseTarget(many + "a&a").status()));
}

TEST(QueryTest, NamesAndValuesAreDecodedWhenTheyAreAskedFor) {
  const Query query("%6Cimit=%35&a%20b=1&x=%zz&x=2&y=a%3Db");
  EXPECT_EQ(query.Get("limit"), "5");
  EXPECT_EQ(query.Get("x"), "2");  // a broken one does not count
  EXPECT_EQ(query.Get("y"), "a=b");
  EXPECT_EQ(query.BytesSent("y"), 5u);
  EXPECT_EQ(query.BytesSent("z"), 0u);
  EXPECT_EQ(query.Get("z"), std::nullopt);
}

TEST(QueryTest, OfLongOrManyValuesOnlyTheFirstAreShown) {
  std::string text = "short=%22x%22&long=";
  for (int i = 0; i < 300'000; ++i) text += "%22";
  for (int i = 0; i < 100; ++i) text += "&many=" + std::to_string(i);
  const Query query(text);
  EXPECT_EQ(query.Shown("short"), "\"x\"");
  EXPECT_EQ(query.Shown("none"), "");
  EXPECT_EQ(query.Value("long").size(), 300'000u);
  EXPECT_LT(query.Shown("long").capacity(), 4096u);
  EXPECT_EQ(query.AllShown("long"), std::vector<std::string>{query.Shown("long")});
  EXPECT_EQ(query.AllShown("many").size(), Query::kMaxValues);
  EXPECT_EQ(query.AllShown("many").back(), "63");
}

TEST(QueryTest, FlagsReadAsGoReadsThem) {
  const Query query("a&b=&c=false&d=0&e=False&f=no&g=1");
  EXPECT_TRUE(query.Flag("a"));
  EXPECT_TRUE(query.Flag("b"));
  EXPECT_FALSE(query.Flag("c"));
  EXPECT_FALSE(query.Flag("d"));
  EXPECT_FALSE(query.Flag("e"));
  EXPECT_TRUE(query.Flag("f"));
  EXPECT_TRUE(query.Flag("g"));
  EXPECT_FALSE(query.Flag("absent"));
}

}  // namespace
}  // namespace flyball::apiservice
