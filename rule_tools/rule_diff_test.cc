#include "rule_tools/rule_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "rule_tools/rule_pairing.h"

namespace flyball::rule_tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Rule(const std::string& series, const std::string& query = "sum(<<.Series>>)") {
  return absl::StrCat("- seriesQuery: ", series, "\n  metricsQuery: ", query, "\n");
}

RulesDiff Diff(const std::string& was, const std::string& is) {
  rules::Findings ignored("f");
  return DiffRules(rules::ReadConfig(was, ignored), rules::ReadConfig(is, ignored));
}

std::string Text(const std::string& was, const std::string& is) {
  return DiffText(Diff(was, is), "old.yaml", "new.yaml");
}

TEST(RuleDiff, TheSameRulesDifferInNothing) {
  const std::string file = absl::StrCat("rules:\n", Rule("a"), Rule("b"));
  EXPECT_EQ(Text(file, absl::StrCat("# a remark\n", file)), "2 the same\n");
  EXPECT_EQ(Text("", ""), "0 the same\n");
}

TEST(RuleDiff, AChangedFieldIsShownBeforeAndAfter) {
  EXPECT_EQ(Text(absl::StrCat("rules:\n", Rule("a"), Rule("b")),
                 absl::StrCat("rules:\n", Rule("a"), Rule("b", "max(<<.Series>>)"))),
            "changed: rules[1] old.yaml:4 -> rules[1] new.yaml:4, series b\n"
            "  metricsQuery\n"
            "    - sum(<<.Series>>)\n"
            "    + max(<<.Series>>)\n"
            "1 changed, 1 the same\n");
}

TEST(RuleDiff, AFieldThatComesOrGoesHasOneSide) {
  EXPECT_EQ(Text("rules:\n- {seriesQuery: a, resources: {overrides: {p: {resource: pod}}}}\n",
                 "rules:\n- {seriesQuery: a, resources: {namespaced: false}}\n"),
            "changed: rules[0] old.yaml:2 -> rules[0] new.yaml:2, series a\n"
            "  resources.overrides.p\n    - pod\n"
            "  resources.namespaced\n    + false\n"
            "1 changed, 0 the same\n");
}

TEST(RuleDiff, RulesComeAndGoInTheirOwnList) {
  const std::string text = Text(absl::StrCat("rules:\n", Rule("a"), Rule("b")),
                                absl::StrCat("rules:\n", Rule("b"), "externalRules:\n", Rule("a")));
  EXPECT_THAT(text, HasSubstr("gone: rules[0] old.yaml:2, series a\n"));
  EXPECT_THAT(text, HasSubstr("new: externalRules[0] new.yaml:5, series a\n"));
  EXPECT_THAT(text, HasSubstr("1 gone, 1 new, 1 the same\n"));
}

TEST(RuleDiff, WhatStandsInAnotherPlaceHasMoved) {
  const std::string was = absl::StrCat("rules:\n", Rule("a"), Rule("b"), Rule("c"));
  const std::string is = absl::StrCat("rules:\n", Rule("c"), Rule("a"), Rule("b"));
  EXPECT_EQ(Text(was, is),
            "moved: rules[2] old.yaml:6 -> rules[0] new.yaml:2, series c\n"
            "1 moved, 2 the same\n");
}

TEST(RuleDiff, ARenamedSeriesIsAChangeIfNameAndQueryStay) {
  const std::string was = "rules:\n- {seriesQuery: a, name: {as: n}, metricsQuery: q}\n";
  const std::string is = "rules:\n- {seriesQuery: b, name: {as: n}, metricsQuery: q}\n";
  EXPECT_THAT(Text(was, is), HasSubstr("  seriesQuery\n    - a\n    + b\n1 changed"));
}

TEST(RuleDiff, ResourceRulesAreOne) {
  const std::string was = "resourceRules: {cpu: {containerQuery: c, nodeQuery: n}, window: 1m}\n";
  EXPECT_EQ(Text(was, was), "1 the same\n");
  EXPECT_EQ(Text(was, "resourceRules: {cpu: {containerQuery: c, nodeQuery: n}, window: 2m}\n"),
            "changed: resourceRules old.yaml:1 -> resourceRules new.yaml:1\n"
            "  window\n    - 1m\n    + 2m\n"
            "1 changed, 0 the same\n");
  EXPECT_THAT(Text(was, ""), HasSubstr("gone: resourceRules old.yaml:1\n"));
}

TEST(RuleDiff, LinesOfATextAreMarkedEach) {
  EXPECT_THAT(Text("", "rules:\n- seriesQuery: a\n  metricsQuery: |-\n    sum(\n    a)\n"),
              HasSubstr("  metricsQuery\n    + sum(\n    + a)\n"));
}

TEST(RuleDiff, ForProgramsTheSame) {
  const auto json = nlohmann::json::parse(
      DiffJson(Diff(absl::StrCat("rules:\n", Rule("a")),
                    absl::StrCat("rules:\n", Rule("a", "max(<<.Series>>)"), Rule("b")))));
  EXPECT_EQ(json["same"], 0);
  ASSERT_EQ(json["differences"].size(), 2u);
  const auto& changed = json["differences"][0];
  EXPECT_EQ(changed["kind"], "changed");
  EXPECT_EQ(changed["before"]["line"], 2);
  EXPECT_EQ(changed["fields"][0]["after"], "max(<<.Series>>)");
  EXPECT_EQ(json["differences"][1]["before"], nullptr);
}

TEST(OutOfOrder, LeavesALongestRisingRun) {
  EXPECT_THAT(OutOfOrder({}), ElementsAre());
  EXPECT_THAT(OutOfOrder({0, 1, 2}), ElementsAre(false, false, false));
  EXPECT_THAT(OutOfOrder({3, 0, 1, 2}), ElementsAre(true, false, false, false));
  EXPECT_THAT(OutOfOrder({1, 0}), testing::Contains(true).Times(1));
}

}  // namespace
}  // namespace flyball::rule_tools
