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
  EXPECT_EQ(FieldSelector::Parse("spec.x=y").status().message(),
            "\"spec.x\" is not a known field selector: only \"metadata.name\", "
            "\"metadata.namespace\"");
  EXPECT_EQ(FieldSelector::Parse(R"(metadata.name=a\x)").status().message(),
            R"(invalid field selector: invalid escape sequence: \x)");
  EXPECT_FALSE(FieldSelector::Parse("metadata.name=a=b").ok());
}

}  // namespace
}  // namespace flyball::apiservice
