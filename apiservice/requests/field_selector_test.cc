#include "apiservice/requests/field_selector.h"

#include <gtest/gtest.h>

namespace flyball::apiservice {
namespace {

TEST(FieldSelectorTest, TermsAreAnded) {
  const auto selector = FieldSelector::Parse("metadata.name!=b,metadata.namespace==shop");
  ASSERT_TRUE(selector.ok());
  EXPECT_TRUE(selector->Matches("shop", "a"));
  EXPECT_FALSE(selector->Matches("shop", "b"));
  EXPECT_FALSE(selector->Matches("other", "a"));
  EXPECT_EQ(selector->ExactName(), std::nullopt);
}

TEST(FieldSelectorTest, EscapesAreUndone) {
  EXPECT_EQ(FieldSelector::Parse(R"(metadata.name=a\,b\=c\\)")->ExactName(), "a,b=c\\");
}

TEST(FieldSelectorTest, Errors) {
  EXPECT_EQ(FieldSelector::Parse("foo").status().message(),
            "invalid selector: 'foo'; can't understand 'foo'");
  EXPECT_EQ(FieldSelector::Parse(R"(metadata.name=a\x)").status().message(),
            R"(invalid field selector: invalid escape sequence: \x)");
  EXPECT_EQ(FieldSelector::Parse("metadata.name=a\\\xC3\xA9").status().message(),
            "invalid field selector: invalid escape sequence: \\\xC3\xA9");
  EXPECT_FALSE(FieldSelector::Parse("metadata.name=a=b").ok());
}

TEST(FieldSelectorTest, FieldsAreCheckedBehindTheFormOfAllTerms) {
  EXPECT_EQ(FieldSelector::Parse("a.x=y,b").status().message(),
            "invalid selector: 'a.x=y,b'; can't understand 'b'");
  const auto unknown = FieldSelector::Parse(R"(spec.x=y,metadata.name=a,a"\.x!=y)");
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  EXPECT_EQ(unknown->CheckFields().message(),
            R"("a\"\\.x" is not a known field selector: only "metadata.name", )"
            R"("metadata.namespace")");
  EXPECT_EQ(unknown->ExactName(), "a");
  EXPECT_TRUE(FieldSelector::Parse("metadata.name=a,metadata.namespace=b")->CheckFields().ok());
}

}  // namespace
}  // namespace flyball::apiservice
