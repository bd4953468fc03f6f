#include "kube/objects/metadata_json.h"

#include <string>

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

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
