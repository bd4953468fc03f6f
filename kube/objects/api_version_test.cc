#include "kube/objects/api_version.h"

#include "gtest/gtest.h"

namespace flyball::kube {
namespace {

TEST(ApiVersionTest, HasAGroupBeforeItsSlash) {
  for (const auto& [text, group, version] :
       {std::tuple("apps/v1", "apps", "v1"), std::tuple("v1", "", "v1"), std::tuple("", "", ""),
        std::tuple("/v1", "", "v1"), std::tuple("apps/", "apps", "")}) {
    const auto parsed = ApiVersion::Parse(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->group, group) << text;
    EXPECT_EQ(parsed->version, version) << text;
    EXPECT_EQ(ApiVersion::GroupOf(text), group) << text;
  }
  EXPECT_EQ((ApiVersion{"apps", "v1"}.ToString()), "apps/v1");
  EXPECT_EQ((ApiVersion{"", "v1"}.ToString()), "v1");
}

TEST(ApiVersionTest, MoreThanOneSlashIsNone) {
  EXPECT_EQ(ApiVersion::Parse("a/b/c").status(),
            absl::InvalidArgumentError("unexpected GroupVersion string: a/b/c"));
  EXPECT_EQ(ApiVersion::GroupOf("a/b/c"), "");
}

}  // namespace
}  // namespace flyball::kube
