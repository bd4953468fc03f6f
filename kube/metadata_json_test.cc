#include "kube/metadata_json.h"

#include <string>

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

TEST(ReadListTest, TakesNamesLabelsAndWhereToGoOn) {
  MetadataReader reader;
  std::string body = R"({"kind":"PartialObjectMetadataList","items":[
    {"metadata":{"managedFields":[{"x":{"name":"no"}}],"labels":{"a":"b","q\"":"\u00e9"},
     "namespace":"shop","name":"cart-1","resourceVersion":"5"},"kind":"PartialObjectMetadata"},
    {"metadata":{"name":"n1","labels":null}}],
    "metadata":{"resourceVersion":"42","continue":"tok","remainingItemCount":3}})";
  const auto page = reader.ReadList(body);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->resource_version, "42");
  EXPECT_EQ(page->continue_token, "tok");
  ASSERT_EQ(page->objects.size(), 2u);
  EXPECT_EQ(page->objects[0]->ns, "shop");
  EXPECT_EQ(page->objects[0]->name, "cart-1");
  EXPECT_EQ(page->objects[0]->labels, (Labels{{"a", "b"}, {"q\"", "é"}}));
  EXPECT_EQ(page->objects[1]->ns, "");
}

TEST(ReadListTest, RefusesWhatIsNoList) {
  MetadataReader reader;
  for (std::string body :
       {"", "<html>", "[]", "1", "{}", R"({"items":{}})", R"({"items":[1]})", R"({"items":[{}]})",
        R"({"items":[{"metadata":{"name":"a"}})", R"({"items":[{"metadata":{"name":1}}]})"}) {
    EXPECT_FALSE(reader.ReadList(body).ok()) << body;
  }
}

TEST(ReadEventTest, EachTypeOfEvent) {
  MetadataReader reader;
  const auto added = reader.ReadEvent(
      R"({"object":{"metadata":{"name":"a","namespace":"n","resourceVersion":"7"}},"type":"ADDED"})");
  ASSERT_TRUE(added.ok()) << added.status();
  EXPECT_EQ(added->type, WatchEvent::Type::kChanged);
  EXPECT_EQ(added->object->name, "a");
  EXPECT_EQ(added->resource_version, "7");

  const auto deleted =
      reader.ReadEvent(R"({"type":"DELETED","object":{"metadata":{"name":"a"},"code":"x"}})");
  ASSERT_TRUE(deleted.ok()) << deleted.status();
  EXPECT_EQ(deleted->type, WatchEvent::Type::kDeleted);

  const auto bookmark = reader.ReadEvent(
      R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","name":""}}})");
  ASSERT_TRUE(bookmark.ok()) << bookmark.status();
  EXPECT_EQ(bookmark->type, WatchEvent::Type::kBookmark);
  EXPECT_EQ(bookmark->resource_version, "9");

  const auto error = reader.ReadEvent(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})");
  ASSERT_TRUE(error.ok()) << error.status();
  EXPECT_EQ(error->type, WatchEvent::Type::kError);
  EXPECT_EQ(error->error_code, 410);
  EXPECT_EQ(error->error_message, "too old");
}

TEST(ReadEventTest, RefusesWhatIsNoEvent) {
  MetadataReader reader;
  for (const char* line : {"", "x", "{}", R"({"type":"ADDED"})", R"({"type":"NEW","object":{}})",
                           R"({"type":"ADDED","object":{"metadata":{"name":"a")"}) {
    EXPECT_FALSE(reader.ReadEvent(line).ok()) << line;
  }
}

}  // namespace
}  // namespace flyball::kube
