#include "rules/rule_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace flyball::rules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// "of: rules+external+resource, finding, finding" of each.
std::vector<std::string> Found(const std::string& text, const std::vector<std::string>& path = {}) {
  std::vector<std::string> out;
  for (const FoundRules& found : FindRules(text, "f", path)) {
    const CompileResult& compiled = found.compiled;
    std::string& line = out.emplace_back(absl::StrCat(found.of, ": "));
    if (compiled.rules != nullptr) {
      absl::StrAppend(&line, compiled.rules->custom.size(), "+", compiled.rules->external.size(),
                      "+", compiled.rules->resource.has_value());
    }
    for (const Finding& finding : compiled.findings)
      absl::StrAppend(&line, ", ", finding.ToString());
  }
  return out;
}

constexpr char kConfigMap[] =
    "apiVersion: v1\n"
    "kind: ConfigMap\n"
    "metadata: {name: flyball, namespace: shop}\n"
    "data:\n"
    "  config.yaml: |\n"
    "    rules:\n"
    "    - seriesQuery: up\n"
    "      resources: {template: <<.Resource>>}\n"
    "      metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)\n"
    "    - seriesQuery: down\n"
    "      foo: 1\n";

TEST(FindRules, ARuleFileIsReadAsItIs) {
  EXPECT_THAT(Found("rules:\n- seriesQuery: up\n  resources: {template: <<.Resource>>}\n"
                    "  metricsQuery: <<.Series>>{<<.LabelMatchers>>}\n"),
              ElementsAre(": 1+0+0"));
}

TEST(FindRules, AnEmptyFileServesNothing) {
  EXPECT_THAT(Found(""), ElementsAre(": 0+0+0, f: warning: no rules: nothing is served"));
  EXPECT_THAT(Found("rules: []\n"), ElementsAre(HasSubstr("no rules: nothing is served")));
}

TEST(FindRules, PlacesInAConfigMapAreThoseOfTheFile) {
  const auto found = Found(kConfigMap);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], StartsWith("ConfigMap shop/flyball, config.yaml: , f:10:7: rules[1]"));
  EXPECT_THAT(found[0], HasSubstr(", f:11:7: rules[1].foo: unknown key"));
}

TEST(FindRules, OtherObjectsArePassedOver) {
  const auto found =
      Found(absl::StrCat("kind: Deployment\n---\n", kConfigMap, "---\nkind: Role\n"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], HasSubstr("f:13:7: rules[1].foo: "));
  EXPECT_THAT(Found("kind: Deployment\n---\nkind: Role\n"),
              ElementsAre(": , f: no ConfigMap with rules, only Deployment, Role"));
}

TEST(FindRules, OfTextInQuotesTheLineIsToldInWords) {
  const auto found =
      Found(R"({"kind": "List", "items": [{"kind": "ConfigMap", "metadata": {"name": "a"},)"
            R"( "data": {"c.yaml": "rules:\n- foo: 1\n", "README": "no rules"}}]})");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], StartsWith("ConfigMap a, c.yaml: , f:1:96: rules[0].foo: "));
  EXPECT_THAT(found[0], HasSubstr("(line 2 of the text that begins here)"));
}

constexpr char kValues[] =
    "prometheus: {url: http://p}\n"
    "rules:\n"
    "  default: true\n"
    "  custom:\n"
    "  - seriesQuery: up\n"
    "    resources: {template: <<.Resource>>}\n"
    "    metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>\n"
    "  external: []\n"
    "  resource: {}\n";

TEST(FindRules, ValuesOfAChart) {
  const auto found = Found(kValues);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], StartsWith("values: 1+0+0, f:7:19: rules.custom[0].metricsQuery: parse "
                                   "error at 1:"));
}

TEST(FindRules, ValuesOfAChartAroundIt) {
  const std::string around = "a:\n  b:\n    rules: {custom: [], external: [{seriesQuery: up}]}\n";
  EXPECT_THAT(Found(around, {"a", "b"}),
              ElementsAre(testing::AllOf(StartsWith("values: 0+1+0"),
                                         HasSubstr("a.b.rules.external[0].metricsQuery"))));
  EXPECT_THAT(Found(around, {"a", "c"}),
              ElementsAre("values: , f:2:3: a.c: the values have no such key"));
}

TEST(FindRules, AMappingIsNotTakenForValuesUnlessItHasTheirKeys) {
  EXPECT_THAT(Found("rules: {seriesQuery: up}\n"),
              ElementsAre(": , f:1:8: rules: found a mapping, expected a list"));
}

TEST(FindRules, ValuesWithRulesElsewhereLackNone) {
  EXPECT_THAT(Found("rules: {default: true, custom: []}\n"), ElementsAre("values: 0+0+0"));
  EXPECT_THAT(Found("rules: {default: false, existing: mine}\n"), ElementsAre("values: 0+0+0"));
  EXPECT_THAT(Found("rules: {default: false, existing: null}\n"),
              ElementsAre(HasSubstr("no rules: nothing is served")));
}

// The server and the original refuse it: their rules are below `rules`.
TEST(FindRules, AListIsNoRuleFile) {
  const auto found = Found("- seriesQuery: up\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0], HasSubstr("f:1:1: found a list, expected a mapping"));
}

TEST(FindRules, ThereIsALimitToDocuments) {
  std::string text = "kind: Role\n";
  for (int i = 0; i < 5000; ++i) text += "---\nkind: Role\n";
  EXPECT_THAT(Found(text), ElementsAre(": , f: over 1000 documents, or places with rules"));
}

TEST(FindRules, BrokenYamlIsAnError) {
  const auto found = Found("kind: ConfigMap\n---\na: [\n");
  EXPECT_THAT(found, testing::Contains(HasSubstr("not YAML")));
}

}  // namespace
}  // namespace flyball::rules
