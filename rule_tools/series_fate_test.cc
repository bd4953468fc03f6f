#include "rule_tools/series_fate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "kube/objects/manifest_objects.h"
#include "rules/rule_source.h"

namespace flyball::rule_tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kPerSecond[] =
    "- seriesQuery: http_requests_total{namespace!=\"\"}\n"
    "  resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}\n"
    "  name: {matches: ^(.*)_total$, as: \"${1}_per_second\"}\n"
    "  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)\n";

std::vector<RuleVerdict> Verdicts(const std::string& rules_text, const GivenSeries& series) {
  const auto found = rules::FindRules(rules_text, "config.yaml", {});
  EXPECT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].compiled.rules, nullptr);
  if (found[0].compiled.rules == nullptr) return {};
  return FateOf(series, found[0].config, *found[0].compiled.rules,
                *kube::ManifestObjects({}).mapper());
}

std::string Fate(const std::string& rules_text, const std::string& series_text) {
  const auto series = ParseGivenSeries(series_text);
  EXPECT_TRUE(series.ok()) << series.status();
  return FateText(*series, Verdicts(rules_text, *series));
}

std::string Rules(const std::string& rules) { return absl::StrCat("rules:\n", rules); }

TEST(SeriesFate, AnOfferedSeriesIsShownWithItsQueries) {
  EXPECT_EQ(
      Fate(Rules(kPerSecond), R"(http_requests_total{namespace="shop",pod="web-1"})"),
      "http_requests_total{namespace=\"shop\",pod=\"web-1\"}\n"
      "rules[0] config.yaml:2: offered\n"
      "  namespaces/http_requests_per_second\n"
      "    asks: sum(rate(http_requests_total{namespace=\"shop\"}[2m])) by (namespace)\n"
      "  pods/http_requests_per_second\n"
      "    asks: sum(rate(http_requests_total{namespace=\"shop\",pod=\"web-1\"}[2m])) by (pod)\n"
      "It is offered.\n");
}

TEST(SeriesFate, EachStepThatLosesItIsNamed) {
  EXPECT_THAT(Fate(Rules(kPerSecond), R"(http_requests_total{pod="web-1"})"),
              HasSubstr("rules[0] config.yaml:2: not found: its seriesQuery asks for "
                        "namespace!=\"\", the series has no such label\nIt is no metric.\n"));
  EXPECT_THAT(Fate(Rules(kPerSecond), R"(http_requests_total{namespace="shop",job="web"})"),
              HasSubstr("namespaces/http_requests_per_second"));
  EXPECT_THAT(Fate(Rules("- seriesQuery: a\n  seriesFilters: [{isNot: ^a}]\n"), "a{pod=\"x\"}"),
              HasSubstr("left out: seriesFilters[0].isNot \"^a\" matches its name"));
  EXPECT_THAT(Fate(Rules("- seriesQuery: a\n  seriesFilters: [{is: b$}]\n"), "a{pod=\"x\"}"),
              HasSubstr("left out: seriesFilters[0].is \"b$\" does not match its name"));
  EXPECT_THAT(Fate(Rules("- seriesQuery: a\n  name: {matches: b, as: c}\n"), "a{pod=\"x\"}"),
              HasSubstr("left out: name.matches \"b\" does not match its name"));
  EXPECT_THAT(
      Fate(Rules("- seriesQuery: a\n  resources: {overrides: {kube_pod: {resource: pod}, "
                 "x: {resource: gizmo}}}\n  metricsQuery: a\n"),
           "a{pod=\"x\",job=\"y\"}"),
      HasSubstr("no resource: no label of it is a resource: it has job, pod, `resources` names "
                "kube_pod (pod), x (gizmo, which is no resource that is known)"));
  EXPECT_THAT(Fate(Rules("- seriesQuery: a\n- seriesQuery: c\n"), "b{}"),
              HasSubstr("b{}\n2 rules ask for series of other names\nIt is no metric.\n"));
}

TEST(SeriesFate, TheNameAloneLeavesTheLabelsOpen) {
  EXPECT_THAT(Fate(Rules(kPerSecond), "http_requests_total"),
              HasSubstr("rules[0] config.yaml:2: labels needed: takes it under the name "
                        "http_requests_per_second; whose metric it is say its labels\n"
                        "Give the series with its labels to see more.\n"));
}

TEST(SeriesFate, ASeriesWithoutItsNamespaceIsNeverFound) {
  const std::string rules = Rules(
      "- seriesQuery: a\n  resources: {template: <<.Resource>>}\n"
      "  metricsQuery: <<.Series>>{<<.LabelMatchers>>}\n");
  const std::string text = Fate(rules, "a{pod=\"web-1\"}");
  EXPECT_THAT(text, HasSubstr("  pods/a\n    asks: a{namespace=\"NAMESPACE\",pod=\"web-1\"}\n"
                              "    but: requests ask for a namespace by the label namespace, which "
                              "the series does not have: they find nothing\n"));
  EXPECT_THAT(text, HasSubstr("It is no metric.\n"));
}

TEST(SeriesFate, AQueryThatPrometheusRefusesGivesNoMetric) {
  const std::string text =
      Fate(Rules("- seriesQuery: a\n  resources: {template: <<.Resource>>}\n"
                 "  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>})) by (<<.GroupBy>>)\n"),
           R"(a{namespace="shop"})");
  EXPECT_THAT(text,
              HasSubstr("    asks: sum(rate(a{namespace=\"shop\"})) by (namespace)\n"
                        "    but: Prometheus refuses that: parse error at 1:10: expected "
                        "type range vector in call to function \"rate\", got instant vector"));
  EXPECT_THAT(text, HasSubstr("It is no metric.\n"));
  EXPECT_THAT(Fate("externalRules:\n- seriesQuery: a\n  resources: {namespaced: false}\n"
                   "  metricsQuery: <<.Series>>{<<.LabelMatchers>>}[5m]\n",
                   "a"),
              HasSubstr("but: Prometheus refuses that: gives a range vector"));
}

TEST(SeriesFate, ARuleWithoutALabelForNamespacesOffersNothing) {
  const std::string external = Fate(
      "externalRules:\n- seriesQuery: orphan\n  metricsQuery: "
      "sum(<<.Series>>{<<.LabelMatchers>>})\n",
      "orphan");
  EXPECT_THAT(external, HasSubstr("but: the rule has no label for namespaces"));
  EXPECT_THAT(external, HasSubstr("It is no metric.\n"));
  const std::string custom =
      Fate(Rules("- seriesQuery: m\n  resources: {overrides: {pod: {resource: pod}}}\n"
                 "  metricsQuery: <<.Series>>{<<.LabelMatchers>>}\n"),
           R"(m{pod="a"})");
  EXPECT_THAT(custom, HasSubstr("the rule has no label for namespaces"));
  EXPECT_THAT(custom, HasSubstr("It is no metric.\n"));
}

TEST(SeriesFate, OfEqualNamesTheLaterRuleCounts) {
  const std::string text =
      Fate(Rules(absl::StrCat(kPerSecond, kPerSecond)), R"(http_requests_total{namespace="shop"})");
  EXPECT_THAT(text,
              HasSubstr("rules[0] config.yaml:2: offered\n"
                        "  namespaces/http_requests_per_second\n"
                        "    asks: sum(rate(http_requests_total{namespace=\"shop\"}[2m])) by "
                        "(namespace)\n"
                        "    but: rules[1] config.yaml:6 makes the same name and comes later, "
                        "so that one counts\n"));
  EXPECT_THAT(text, HasSubstr("It is offered.\n"));
}

TEST(SeriesFate, ExternalRulesNeedNoResource) {
  const std::string rules =
      "externalRules:\n- seriesQuery: queue\n  resources: {namespaced: false}\n"
      "  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>})\n";
  EXPECT_EQ(Fate(rules, "queue"),
            "queue\nexternalRules[0] config.yaml:2: offered\n  queue\n    asks: max(queue{})\n"
            "It is offered.\n");
}

TEST(SeriesFate, ForProgramsTheSame) {
  const auto series = ParseGivenSeries(R"(http_requests_total{namespace="shop"})");
  const auto json = nlohmann::json::parse(FateJson(*series, Verdicts(Rules(kPerSecond), *series)));
  EXPECT_EQ(json["offered"], true);
  EXPECT_EQ(json["rules"][0]["metrics"][0]["name"], "namespaces/http_requests_per_second");
  EXPECT_EQ(json["rules"][0]["result"], "offered");
}

TEST(ParseGivenSeries, TakesWhatASeriesMayBe) {
  EXPECT_EQ(ParseGivenSeries("up")->ToString(), "up");
  EXPECT_EQ(ParseGivenSeries(R"({__name__="up",a="b"})")->ToString(), R"(up{a="b"})");
  EXPECT_THAT(std::string(ParseGivenSeries("up{a!=\"b\"}").status().message()),
              HasSubstr("a series has its labels by `=`"));
  EXPECT_FALSE(ParseGivenSeries("{a=\"b\"}").ok());
  EXPECT_FALSE(ParseGivenSeries("rate(up[5m])").ok());
}

}  // namespace
}  // namespace flyball::rule_tools
