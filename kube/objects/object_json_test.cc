#include "kube/objects/object_json.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

struct PageRow {
  std::string name;
  std::string body;
  std::vector<std::string> objects = {};
  std::string resource_version = {};
  std::string continue_token = {};
  bool ok = true;
};

class ReadPageTest : public testing::TestWithParam<PageRow> {};

TEST_P(ReadPageTest, Row) {
  ObjectReader reader;
  // Twice: what one page leaves behind must not show in the next.
  for (int i = 0; i < 2; ++i) {
    std::string body = GetParam().body;
    std::vector<std::string> objects;
    const auto end = reader.ReadPage(
        body, [&](absl::string_view object) { objects.emplace_back(std::string(object)); });
    ASSERT_EQ(end.ok(), GetParam().ok) << end.status();
    if (!end.ok()) continue;
    EXPECT_EQ(objects, GetParam().objects);
    EXPECT_EQ(end->resource_version, GetParam().resource_version);
    EXPECT_EQ(end->continue_token, GetParam().continue_token);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pages, ReadPageTest,
    testing::Values(
        PageRow{"ObjectsAsTheyStand",
                "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"42\",\"continue\":\"t\","
                "\"remainingItemCount\":3},\"items\":[{\"a\":1.50,\"b\":\"}\\\"\"} , {}\n,\n{"
                "\"c\":[{},[]]}\n]}",
                {"{\"a\":1.50,\"b\":\"}\\\"\"}", "{}", "{\"c\":[{},[]]}"},
                "42",
                "t"},
        PageRow{"MetadataMayComeLast",
                R"({"items":[{"a":{}}],"metadata":{"resourceVersion":"1"}})",
                {R"({"a":{}})"},
                "1"},
        PageRow{"NullIsEmpty", R"({"items":null,"metadata":null})"},
        PageRow{"NoItems", R"({"metadata":{}})", {}, "", "", false},
        PageRow{"ItemsThatAreNoObjects", R"({"items":[1]})", {}, "", "", false},
        PageRow{"ItemsThatAreNoArray", R"({"items":{}})", {}, "", "", false},
        PageRow{"BrokenOff", R"({"items":[{"a":1})", {}, "", "", false},
        PageRow{"Empty", "", {}, "", "", false}, PageRow{"Html", "<html>", {}, "", "", false},
        PageRow{"Null", "null", {}, "", "", false},
        PageRow{"NumberAsVersion",
                R"({"items":[],"metadata":{"resourceVersion":1}})",
                {},
                "",
                "",
                false}),
    [](const auto& info) { return info.param.name; });

struct EventRow {
  std::string name;
  std::string line;
  ObjectEvent::Type type = ObjectEvent::Type::kError;
  std::string object = {};
  std::string resource_version = {};
  int error_code = 0;
  std::string error_message = {};
};

class ReadEventTest : public testing::TestWithParam<EventRow> {};

TEST_P(ReadEventTest, Row) {
  ObjectReader reader;
  const auto event = reader.ReadEvent(GetParam().line);
  ASSERT_TRUE(event.ok()) << event.status();
  EXPECT_EQ(event->type, GetParam().type);
  EXPECT_EQ(event->object, GetParam().object);
  EXPECT_EQ(event->resource_version, GetParam().resource_version);
  if (GetParam().type != ObjectEvent::Type::kError) return;
  EXPECT_EQ(event->error_code, GetParam().error_code);
  EXPECT_EQ(event->error_message, GetParam().error_message);
}

constexpr char kPod[] =
    R"({"kind":"Pod","status":{"message":"x"},"metadata":{"name":"a","resourceVersion":"7"},"spec":{}})";
constexpr char kStatus[] =
    R"({"kind":"Status","metadata":{},"message":"too old","reason":"Expired","code":410})";

INSTANTIATE_TEST_SUITE_P(
    Types, ReadEventTest,
    testing::Values(
        EventRow{"Added", absl::StrCat(R"({"type":"ADDED","object":)", kPod, "}"),
                 ObjectEvent::Type::kAdded, kPod, "7"},
        EventRow{"TypeMayComeLast", absl::StrCat(R"({"object":)", kPod, R"( , "type":"MODIFIED"})"),
                 ObjectEvent::Type::kModified, kPod, "7"},
        EventRow{"Deleted", absl::StrCat(R"({"type":"DELETED","object":)", kPod, "}"),
                 ObjectEvent::Type::kDeleted, kPod, "7"},
        EventRow{"FieldsOfAStatusMayMeanOtherThings",
                 R"({"type":"ADDED","object":{"code":"x","message":[],"metadata":{}}})",
                 ObjectEvent::Type::kAdded, R"({"code":"x","message":[],"metadata":{}})"},
        EventRow{"Bookmark", R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})",
                 ObjectEvent::Type::kBookmark, R"({"metadata":{"resourceVersion":"9"}})", "9"},
        EventRow{"Error", absl::StrCat(R"({"type":"ERROR","object":)", kStatus, "}"),
                 ObjectEvent::Type::kError, kStatus, "", 410, "too old"}),
    [](const auto& info) { return info.param.name; });

TEST(ReadEventTest, RefusesWhatIsNoEvent) {
  ObjectReader reader;
  for (const char* line :
       {"", "x", "{}", "[]", R"({"type":"ADDED"})", R"({"type":"NEW","object":{"a":1}})",
        R"({"type":"ADDED","object":[]})", R"({"type":"ADDED","object":null})",
        R"({"type":"ADDED","object":{"metadata":{"name":"a")",
        R"({"type":"ADDED","object":{"metadata":{"resourceVersion":7}}})",
        R"({"type":"ADDED","object":{"a":{]]})"}) {
    EXPECT_FALSE(reader.ReadEvent(line).ok()) << line;
  }
}

TEST(MetadataReaderTest, TakesNameNamespaceAndLabels) {
  MetadataReader reader;
  const auto object = reader.Read(
      R"({"spec":{"metadata":{"name":"no"}},"metadata":{"managedFields":[{"x":{"name":"no"}}],
          "labels":{"a":"b","q\"":"\u00e9"},"namespace":"shop","name":"cart-1"},"kind":"Pod"})");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ((*object)->ns, "shop");
  EXPECT_EQ((*object)->name, "cart-1");
  EXPECT_EQ((*object)->labels, (Labels{{"a", "b"}, {"q\"", "é"}}));
}

TEST(MetadataReaderTest, NullIsAbsent) {
  MetadataReader reader;
  const auto object = reader.Read(R"({"metadata":{"name":"n1","labels":null,"namespace":null}})");
  ASSERT_TRUE(object.ok()) << object.status();
  EXPECT_EQ((*object)->ns, "");
  EXPECT_TRUE((*object)->labels.empty());
}

TEST(MetadataReaderTest, RefusesWhatHasNoName) {
  MetadataReader reader;
  for (const char* text :
       {"", "<html>", "[]", "1", "null", "{}", R"({"metadata":null})", R"({"metadata":[]})",
        R"({"metadata":{"name":1}})", R"({"metadata":{"name":""}})", R"({"metadata":{"name":"a"})",
        R"({"metadata":{"name":"a","labels":{"x":1}}})"}) {
    EXPECT_FALSE(reader.Read(text).ok()) << text;
  }
  // And goes on to read.
  EXPECT_TRUE(reader.Read(R"({"metadata":{"name":"a"}})").ok());
}

}  // namespace
}  // namespace flyball::kube
