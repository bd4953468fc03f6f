#include "adapter/live/relabel/relabel.h"

#include <gtest/gtest.h>

namespace flyball::relabel {
namespace {

std::string ErrorOf(RuleText text) {
  return std::string(Rule::Compile(std::move(text)).status().message());
}

TEST(RelabelTest, RefusesAndSaysWhich) {
  EXPECT_EQ(ErrorOf({.action = "dorp"}).substr(0, 49),
            "action: found \"dorp\", expected one of replace kee");
  EXPECT_EQ(ErrorOf({}), "target_label: the action replace needs one");
  EXPECT_EQ(ErrorOf({.action = "hashmod", .target_label = "t"}),
            "modulus: the action hashmod needs one above 0");
  EXPECT_EQ(ErrorOf({.action = "labeldrop", .source_labels = {"a"}}),
            "source_labels: the action labeldrop has no such field");
  EXPECT_EQ(ErrorOf({.target_label = "a-b", .legacy_names = true}),
            "target_label: \"a-b\" is no label name, as the action replace needs one");
  EXPECT_EQ(ErrorOf({.regex = "(", .target_label = "t"}), "regex: missing ): (");
}

TEST(RelabelTest, ParenthesesThatOnlyPairUpWithTheAnchorsAreRefused) {
  EXPECT_NE(ErrorOf({.action = "keep", .regex = "a)|(b"}), "");
}

TEST(RelabelTest, AnEmptyReplacementDeletes) {
  LabelEditor labels({{"a", "1"}, {"b", "2"}});
  const auto rule = Rule::Compile({.target_label = "a", .replacement = ""});
  ASSERT_TRUE(rule.ok());
  EXPECT_TRUE(rule->Apply(labels));
  EXPECT_EQ(labels.Build(), (promql::LabelSet{{"b", "2"}}));
}

}  // namespace
}  // namespace flyball::relabel
