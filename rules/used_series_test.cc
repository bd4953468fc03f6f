#include "rules/used_series.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "promql/engine/memory_series.h"

namespace flyball::rules {
namespace {

constexpr char kPods[] = "overrides: {namespace: {resource: namespace}, pod: {resource: Pods}}";

// The rules of a file with one rule of that series query and metrics query.
std::shared_ptr<const CompiledRules> RuleOf(const std::string& series, const std::string& query,
                                            const std::string& list = "rules",
                                            const std::string& resources = kPods) {
  const CompileResult result =
      CompileRules(list + ":\n- seriesQuery: '" + series + "'\n  resources: {" + resources +
                       "}\n  metricsQuery: '" + query + "'\n",
                   "config.yaml");
  EXPECT_NE(result.rules, nullptr) << result.findings.at(0).ToString();
  return result.rules;
}

// Whether the rules use the series with these labels.
bool Uses(const CompiledRules& rules, const promql::LabelSet& labels) {
  const auto used = UsedSeries(rules);
  if (!used) return true;
  return std::any_of(used->begin(), used->end(), [&](const auto& selector) {
    return promql::MatchesAll(promql::Labels(labels), selector);
  });
}

// Which of some series the rules use; {"any"}: they may use any.
std::set<std::string> Used(const CompiledRules& rules) {
  const auto used = UsedSeries(rules);
  if (!used) return {"any"};
  std::set<std::string> names;
  for (const std::string name : {"a_total", "a_count", "b_total", "b_count", "quota"}) {
    const promql::Labels labels({{"__name__", name}, {"namespace", "web"}});
    for (const auto& selector : *used) {
      if (promql::MatchesAll(labels, selector)) names.insert(name);
    }
  }
  return names;
}

using Names = std::set<std::string>;

TEST(UsedSeries, AreThoseOfTheSeriesQueryAndOfSelectorsInTheQuery) {
  EXPECT_EQ(Used(*RuleOf("a_total{namespace!=\"\"}", "sum(<<.Series>>{<<.LabelMatchers>>})")),
            Names({"a_total"}));
  EXPECT_EQ(Used(*RuleOf("a_total", "<<.Series>>{<<.LabelMatchers>>} / on() quota{x=\"y\"}")),
            Names({"a_total", "quota"}));
  EXPECT_EQ(Used(*RuleOf("quota", "rate({__name__=~\"b_.+\",<<.LabelMatchers>>}[1m])")),
            Names({"quota", "b_total", "b_count"}));
}

// The API lists a metric where the series query finds a series, and then asks for all that have the
// name.
TEST(UsedSeries, WhatElseTheSeriesQueryAsksForHidesNoValues) {
  const std::string query = "sum(<<.Series>>{<<.LabelMatchers>>})";
  const promql::LabelSet failed = {{"__name__", "a_total"}, {"code", "500"}, {"namespace", "web"}};
  const promql::LabelSet of_nobody = {{"__name__", "a_total"}, {"code", "200"}};
  const auto custom = RuleOf("a_total{namespace!=\"\",pod!=\"\",code=\"200\"}", query);
  EXPECT_TRUE(Uses(*custom, failed));
  EXPECT_EQ(UsedSeries(*custom)->size(), 1u);
  EXPECT_FALSE(Uses(*custom, of_nobody));
  EXPECT_FALSE(Uses(*custom, {{"__name__", "b_total"}, {"code", "200"}, {"namespace", "web"}}));

  const auto external = RuleOf("a_total{code=\"200\"}", query, "externalRules");
  EXPECT_TRUE(Uses(*external, failed));
  EXPECT_TRUE(Uses(*external, of_nobody));
}

// Each request names its namespace, unless the query leaves that out.
TEST(UsedSeries, OutsideOfNamespacesAreThoseThatAQueryCanRead) {
  const std::string series = "a_total{namespace!=\"\"}";
  const promql::LabelSet of_nobody = {{"__name__", "a_total"}};
  EXPECT_FALSE(Uses(*RuleOf(series, "sum(<<.Series>>{<<.LabelMatchers>>})"), of_nobody));
  EXPECT_TRUE(Uses(*RuleOf(series, "sum(<<.Series>>) by (<<.GroupBy>>)"), of_nobody));
  EXPECT_TRUE(Uses(*RuleOf(series, "<<.Series>>{<<.LabelMatchers>>} / scalar(sum(<<.Series>>))"),
                   of_nobody));
  EXPECT_FALSE(
      Uses(*RuleOf("{namespace!=\"\",__name__!~\"b_.*\"}", "sum(<<.Series>>{<<.LabelMatchers>>})"),
           of_nobody));
}

// A request for a node names no namespace, so that series without one are in its answer.
TEST(UsedSeries, OutsideOfNamespacesAreThoseOfObjectsThatAreInNone) {
  const auto reads_of_nobody = [](const std::string& resources, const std::string& list) {
    return Uses(*RuleOf("a_total{namespace!=\"\"}",
                        "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)", list, resources),
                {{"__name__", "a_total"}, {"node", "n1"}});
  };
  const std::string ns = "overrides: {namespace: {resource: namespace}";
  for (const std::string& resources :
       {ns + ", node: {resource: node}}", ns + ", pv: {resource: persistentvolume}}",
        ns + ", farm: {group: cheese.example, resource: farm}}",
        std::string("template: <<.Resource>>")}) {
    EXPECT_TRUE(reads_of_nobody(resources, "rules")) << resources;
    EXPECT_FALSE(reads_of_nobody(resources, "externalRules")) << resources;
  }
  for (const std::string& resources :
       {ns + "}", ns + ", po: {resource: Pod}, svc: {resource: services}}",
        ns + ", deploy: {group: apps, resource: deployment}}"}) {
    EXPECT_FALSE(reads_of_nobody(resources, "rules")) << resources;
  }
}

TEST(UsedSeries, AnotherEndingOfTheSeriesNameIsAnyNameWithThatEnding) {
  EXPECT_EQ(Used(*RuleOf("quota", "<<.Series>>_count{<<.LabelMatchers>>}")),
            Names({"quota", "a_count", "b_count"}));
  EXPECT_EQ(Used(*RuleOf("quota", "{__name__=~\"<<.Series>>_(total|sum)\",<<.LabelMatchers>>}")),
            Names({"quota", "a_total", "b_total"}));
}

TEST(UsedSeries, AreAnyWhereTheRuleDoesNotShowThem) {
  EXPECT_EQ(Used(*RuleOf("quota", "sum({<<.LabelMatchers>>})")), Names({"any"}));
  EXPECT_EQ(Used(*RuleOf("{code=\"200\"}", "sum(<<.Series>>{<<.LabelMatchers>>})")),
            Names({"any"}));
  EXPECT_EQ(Used(*RuleOf("quota", "{__name__!=\"<<.Series>>\",<<.LabelMatchers>>}")),
            Names({"any"}));
  EXPECT_EQ(Used(*RuleOf("quota", "<<if .Series>>a_total<<else>>b_total<<end>>")), Names({"any"}));
}

TEST(UsedSeries, ResourceRulesReadThoseOfTheirQueries) {
  const CompileResult result = CompileRules(R"(
resourceRules:
  cpu: &rule
    containerQuery: sum(rate(a_total{<<.LabelMatchers>>}[3m])) by (<<.GroupBy>>)
    nodeQuery: sum(rate(b_total{<<.LabelMatchers>>}[3m])) by (<<.GroupBy>>)
    resources: {overrides: {namespace: {resource: namespace}, node: {resource: node}, pod: {resource: pod}}}
    containerLabel: container
  memory:
    containerQuery: sum(quota{<<.LabelMatchers>>}) by (<<.GroupBy>>)
    nodeQuery: sum(quota{<<.LabelMatchers>>}) by (<<.GroupBy>>)
    resources: {overrides: {namespace: {resource: namespace}, node: {resource: node}, pod: {resource: pod}}}
    containerLabel: container
  window: 3m
)",
                                            "config.yaml");
  ASSERT_NE(result.rules, nullptr) << result.findings.at(0).ToString();
  EXPECT_EQ(Used(*result.rules), Names({"a_total", "b_total", "quota"}));
}

}  // namespace
}  // namespace flyball::rules
