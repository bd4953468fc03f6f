#include "kube/objects/list_splitter.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

struct ListSplitterRow {
  std::string name;
  std::string list;
  std::vector<std::string> objects = {};
  std::string rest = {};
};

class ListSplitterTest : public testing::TestWithParam<ListSplitterRow> {};

TEST_P(ListSplitterTest, TheSameInPiecesOfAnySize) {
  const ListSplitterRow& row = GetParam();
  for (size_t size = 1; size <= row.list.size(); ++size) {
    ListSplitter splitter(1000);
    std::vector<std::string> objects;
    for (size_t at = 0; at < row.list.size(); at += size) {
      const auto piece = absl::string_view(row.list).substr(at, size);
      ASSERT_TRUE(
          splitter.Feed(piece, [&](absl::string_view object) { objects.emplace_back(object); })
              .ok());
    }
    EXPECT_EQ(objects, row.objects) << size;
    EXPECT_EQ(splitter.TakeRest(), row.rest) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Lists, ListSplitterTest,
    testing::Values(
        ListSplitterRow{
            "MetadataFirst",
            R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"a":1}, {"b":[{}]}]})",
            {R"({"a":1})", R"({"b":[{}]})"},
            R"({"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[]})"},
        ListSplitterRow{"MetadataLast",
                        "{\"items\":[\n {} ,\n {}\n],\"metadata\":{}}\n",
                        {"{}", "{}"},
                        "{\"items\":[],\"metadata\":{}}\n"},
        ListSplitterRow{"BracketsAndEscapesInStrings",
                        R"({"items":[{"a":"}]\"\\"},{"\\":"\\\""}]})",
                        {R"({"a":"}]\"\\"})", R"({"\\":"\\\""})"},
                        R"({"items":[]})"},
        ListSplitterRow{
            "OnlyTheItemsOfTheListItself",
            R"({"metadata":{"items":[{"a":1}]},"x":["items",{}],"items":[{"items":[{}]}]})",
            {R"({"items":[{}]})"},
            R"({"metadata":{"items":[{"a":1}]},"x":["items",{}],"items":[]})"},
        ListSplitterRow{"WhatIsNoObjectStaysForTheReader",
                        R"({"items":[1,"{",[{}]]})",
                        {},
                        R"({"items":[1,"{",[{}]]})"},
        ListSplitterRow{"NullStays", R"({"items":null})", {}, R"({"items":null})"},
        ListSplitterRow{"BrokenOff", R"({"items":[{"a":1},{"b")", {R"({"a":1})"}, R"({"items":[)"},
        ListSplitterRow{"NoJson", "<html>", {}, "<html>"}),
    [](const auto& row) { return row.param.name; });

TEST(ListSplitterLimitTest, AnObjectAndTheRestAreLimited) {
  const auto ignore = [](absl::string_view) {};
  ListSplitter objects(10);
  EXPECT_TRUE(objects.Feed(R"({"items":[{"a":1})", ignore).ok());
  EXPECT_EQ(objects.Feed(R"(,{"a":"12345)", ignore).code(), absl::StatusCode::kResourceExhausted);
  ListSplitter rest(10);
  EXPECT_EQ(rest.Feed(R"({"metadata":{})", ignore).code(), absl::StatusCode::kResourceExhausted);
}

TEST(ListSplitterLimitTest, AnItemThatEndsLikeAnArrayIsRefused) {
  ListSplitter splitter(100);
  EXPECT_EQ(splitter.Feed(R"({"items":[{"a":1]})", [](absl::string_view) {}).code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace flyball::kube
