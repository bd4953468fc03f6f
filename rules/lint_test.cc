#include "rules/lint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rules/compiled_rules.h"

namespace flyball::rules {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Listed(const std::vector<Finding>& findings) {
  return absl::StrJoin(findings, "\n", [](std::string* out, const Finding& finding) {
    absl::StrAppend(out, finding.ToString());
  });
}

struct LintRow {
  std::string name;
  std::string rule;     // the inside of a one-line rule
  std::string warning;  // part of the only finding; "": none
  std::string list = "rules";
};

class LintConfigTest : public testing::TestWithParam<LintRow> {};

TEST_P(LintConfigTest, Row) {
  const LintRow& row = GetParam();
  const CompileResult result = CompileRules(absl::StrCat(row.list, ":\n- {", row.rule, "}\n"), "f");
  EXPECT_NE(result.rules, nullptr) << Listed(result.findings);
  if (row.warning.empty()) {
    EXPECT_EQ(Listed(result.findings), "");
    return;
  }
  EXPECT_EQ(result.findings.size(), 1u) << Listed(result.findings);
  EXPECT_THAT(Listed(result.findings), HasSubstr(row.warning));
  EXPECT_THAT(Listed(result.findings), HasSubstr(absl::StrCat(row.list, "[0]")));
  EXPECT_THAT(Listed(result.findings), HasSubstr("warning: "));
}

const std::string kQuery =
    "metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)', ";
const std::string kResources = "resources: {template: <<.Resource>>}, ";
const std::string kUp = "seriesQuery: up, ";
const std::string kNamespace = "ns: {resource: namespace}}}";
const std::string kRule = kUp + kQuery + kResources;

std::string Query(const std::string& query) {
  return kUp + kResources + "metricsQuery: '" + query + "'";
}
std::string Name(const testing::TestParamInfo<LintRow>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(
    Custom, LintConfigTest,
    testing::Values(
        LintRow{"NothingToSay", kRule, ""},
        LintRow{"EmptySeriesQuery", kQuery + kResources, "seriesQuery: warning: is empty"},
        LintRow{"PatternInEquals", kQuery + kResources + R"(seriesQuery: '{__name__!="^a_.*"}')",
                "letter by letter"},
        LintRow{"PatternInOtherQuotes", kQuery + kResources + "seriesQuery: '{__name__=`a.*`}'",
                "letter by letter"},
        LintRow{"PatternInMatch", kQuery + kResources + R"(seriesQuery: '{__name__=~"^a_.*"}')",
                ""},
        LintRow{"NeverRegistered", kUp + kQuery, "is ever registered"},
        LintRow{"NamespacedHasNoEffect",
                kUp + kQuery + "resources: {template: <<.Resource>>, namespaced: true}",
                "no effect here"},
        LintRow{"SpecialCharacters", kUp + kQuery + "resources: {template: 'kube.<<.Resource>>'}",
                "special in a regular expression"},
        LintRow{"TwoOverridesOfOneResource",
                kUp + kQuery + "resources: {overrides: {a: {resource: pod}, b: {resource: Pods}, " +
                    kNamespace,
                "overrides.b: warning: names the same resource as \"a\""},
        LintRow{"SameNameInOtherGroup",
                kUp + kQuery +
                    "resources: {overrides: {a: {resource: pod}, b: {resource: pod, group: x}, " +
                    kNamespace,
                ""},
        LintRow{
            "PodsWithoutNamespaceLabel",
            kUp + kQuery + "resources: {overrides: {po: {resource: Pod}, no: {resource: node}}}",
            "resources: warning: has no label for namespaces: every request for a Pod fails"},
        LintRow{"DeploymentsWithoutNamespaceLabel",
                kUp + kQuery + "resources: {overrides: {d: {group: apps, resource: deployments}}}",
                "has no label for namespaces"},
        LintRow{"NodesNeedNoNamespaceLabel",
                kUp + kQuery +
                    "resources: {overrides: {no: {resource: node}, pv: {resource: "
                    "persistentvolumes}, f: {group: cheese.example, resource: farm}}}",
                ""},
        LintRow{"EmptyQuery", kUp + kResources, "metricsQuery: warning: is empty"},
        LintRow{"UnknownField", Query("<<.Serie>>{<<.LabelMatchers>>}"), "asks for .Serie,"},
        LintRow{"UnknownFieldOfData", Query("<<$.Serie>>{<<.LabelMatchers>>}"), "asks for .Serie,"},
        LintRow{"FieldOfOtherDot",
                Query(R"(up{<<range .LabelValuesByName>><<with .>>a="b",<<end>><<end>>})"), ""},
        LintRow{"FailsOnARequest", Query("up{<<.LabelMatchers>>}<<slice .Series 100>>"),
                "fails on a request at 1:25: slice: "},
        LintRow{"EmptyOnARequest", Query("<<if not .LabelMatchers>>x<<end>>"),
                "gives an empty query"},
        LintRow{"IgnoresMatchers", Query("up"), "ignores .LabelMatchers"},
        LintRow{"ValuesByNameAreMatchers", Query("up{pod=\"<<.LabelValuesByName.pod>>\"}"), ""},
        LintRow{"WholeData",
                Query("<<define \"q\">><<.Series>>{<<.LabelMatchers>>}<<end>>"
                      "<<template \"q\" .>>"),
                ""},
        LintRow{"IgnoresGroupBy", Query("sum(up{<<.LabelMatchers>>})"),
                "aggregates without .GroupBy"},
        LintRow{"BareSelector", Query("up{<<.LabelMatchers>>}"), ""},
        LintRow{"SumInAName", Query("x_sum_total{<<.LabelMatchers>>}"), ""},
        LintRow{"SumAsAName", Query("sum{<<.LabelMatchers>>}"), ""},
        LintRow{"SumAsALabel", Query("up{sum=\"sum by (x)\",<<.LabelMatchers>>}"), ""},
        LintRow{"CountValues", Query("count_values(\"v\", up{<<.LabelMatchers>>})"),
                "aggregates without .GroupBy"},
        LintRow{"GroupBySlice", Query("sum(up{<<.LabelMatchers>>}) by (<<index .GroupBySlice 0>>)"),
                ""},
        LintRow{
            "WantedAndRefused",
            kQuery + kResources + "seriesQuery: '{a=\"b\"}', seriesFilters: [{is: a}, {isNot: a}]",
            "seriesFilters[1].isNot: warning: refuses all"},
        LintRow{"RefusesEverything",
                kQuery + kResources + "seriesQuery: '{a=\"b\"}', seriesFilters: [{isNot: .*}]",
                "seriesFilters[0].isNot: warning: refuses all"},
        LintRow{"OtherSeriesThanMatches", kRule + "name: {matches: _total$}",
                "the rule never matches"},
        LintRow{"OtherSeriesThanFilters",
                kQuery + kResources +
                    R"(seriesQuery: '{a="b",__name__="up"}', seriesFilters: [{isNot: p}])",
                "finds only the series up,"},
        LintRow{"OtherSeriesByNameInBraces",
                kQuery + kResources +
                    R"(seriesQuery: '{"up",a="}"} # all', seriesFilters: [{isNot: p}])",
                "finds only the series up,"},
        LintRow{"GroupThatIsNot", kRule + "name: {matches: (.*), as: '$1_x y'}",
                "names a capture group \"1_x\""},
        LintRow{"GroupThatIs", kRule + "name: {matches: '(?P<n>.)(.*)', as: '${1}$n$2$$3'}", ""},
        LintRow{"OneNameForAll",
                kQuery + kResources + R"(seriesQuery: '{__name__=~"a.*"}', name: {as: x})",
                "the same name"},
        LintRow{"EmptyName", kRule + "name: {matches: 'p(x?)'}", "no path can reach"}),
    Name);

INSTANTIATE_TEST_SUITE_P(
    External, LintConfigTest,
    testing::Values(
        LintRow{"NoNamespaceLabel", kUp + "metricsQuery: 'up{<<.LabelMatchers>>}'",
                "resources: warning: has no label for namespaces", "externalRules"},
        LintRow{"NotNamespaced",
                kUp + "metricsQuery: 'up{<<.LabelMatchers>>}', resources: {namespaced: no}", "",
                "externalRules"},
        LintRow{"NamespaceOverride",
                kUp + "metricsQuery: 'up{<<.LabelMatchers>>}', "
                      "resources: {overrides: {ns: {resource: namespaces}}}",
                "", "externalRules"},
        LintRow{"GroupByIsEmpty", kRule, "uses .GroupBy, which is empty", "externalRules"},
        LintRow{"GroupOfGroupByIsNone",
                Query("sum(up{<<.LabelMatchers>>}) by (<<range .GroupBySlice>>x<<end>>)"),
                "uses .GroupBy, which is empty", "externalRules"},
        LintRow{"MayAggregate", Query("sum(up{<<.LabelMatchers>>})"), "", "externalRules"}),
    Name);

TEST(LintConfigTest, TwoRulesMakeOneMetric) {
  const std::string a =
      "- {" + kUp + kQuery + "resources: {overrides: {po: {resource: pod}, " + kNamespace + "}\n";
  const std::string b = "- {" + kUp + kQuery + "resources: {overrides: {no: {resource: node}}}}\n";
  EXPECT_EQ(Listed(CompileRules("rules:\n" + a + b, "f").findings), "");
  EXPECT_THAT(Listed(CompileRules("rules:\n" + a + b + a, "f").findings),
              HasSubstr("f:4:3: rules[2]: warning: makes the metric \"up\" as rules[0] does"));
}

TEST(LintConfigTest, ResourceRules) {
  const auto findings =
      CompileRules("resourceRules:\n  cpu:\n    containerQuery: x\n", "f").findings;
  EXPECT_EQ(findings.size(), 8u) << Listed(findings);
  for (const char* part :
       {"f:2:3: resourceRules.memory: warning: is missing",
        "resourceRules.window: warning: is miss",
        "f:3:5: resourceRules.cpu.nodeQuery: warning: is empty",
        "f:3:21: resourceRules.cpu.containerQuery: warning: ignores .LabelMatchers",
        "resourceRules.cpu.resources: warning: has no label for nodes",
        "resourceRules.cpu.containerLabel: warning: is missing"}) {
    EXPECT_THAT(Listed(findings), HasSubstr(part));
  }
}

// A container's query groups by the labels of pod and container, a node's by one label.
TEST(LintConfigTest, QueriesOfResourceRulesHaveTheirGroups) {
  const auto warning = [](const std::string& query) {
    const auto findings = CompileRules(absl::StrCat("resourceRules:\n  cpu:\n    ", query,
                                                    ": 'sum(a{<<.LabelMatchers>>}) by (<<index "
                                                    ".GroupBySlice 0>>, <<index .GroupBySlice "
                                                    "1>>)'\n"),
                                       "f")
                              .findings;
    return Listed(findings);
  };
  EXPECT_THAT(warning("containerQuery"), Not(HasSubstr("fails on a request")));
  EXPECT_THAT(warning("nodeQuery"), HasSubstr("nodeQuery: warning: fails on a request"));
}

TEST(LintConfigTest, LaterDocumentsAreNamed) {
  EXPECT_EQ(Listed(CompileRules("rules: []\n---\nfoo: 1\n", "f").findings),
            "f: warning: no rules: nothing is served\n"
            "f:2:1: warning: this document is ignored, only the first is read");
}

// What Prometheus refuses: the rules compile all the same, as another server may take it.
class RefusedQueryTest : public testing::TestWithParam<LintRow> {};

TEST_P(RefusedQueryTest, Row) {
  const CompileResult result =
      CompileRules(absl::StrCat("rules:\n- {", GetParam().rule, "}\n"), "f");
  EXPECT_NE(result.rules, nullptr);
  ASSERT_FALSE(result.findings.empty());
  const Finding& finding = result.findings.back();
  EXPECT_EQ(finding.severity, Finding::Severity::kQuery) << finding.ToString();
  EXPECT_THAT(finding.ToString(), HasSubstr(GetParam().warning));
}

std::string Series(const std::string& query) {
  return kQuery + kResources + "seriesQuery: '" + query + "'";
}

INSTANTIATE_TEST_SUITE_P(
    Custom, RefusedQueryTest,
    testing::Values(
        LintRow{"OpenBrace", Series("http_requests_total{"), "seriesQuery: parse error at 1:21: "},
        LintRow{"BadPattern", Series("{__name__=~\"^(x\"}"), "seriesQuery: parse error at 1:2: "},
        LintRow{"NoSelector", Series("rate(a[5m])"), "expected a vector selector"},
        LintRow{"SetOperator", Series("a and b"), "expected a vector selector"},
        LintRow{"Everything", Series("{}"), "must contain at least one non-empty matcher"},
        LintRow{"OpenParenthesis",
                Query("sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m]) by (<<.GroupBy>>)"),
                "f:2:73: rules[0].metricsQuery: parse error at 1:45: unexpected <by>, in sum("},
        LintRow{"BadDuration", Query("rate(up{<<.LabelMatchers>>}[5x])"), "parse error at 1:"},
        LintRow{"UnknownFunction", Query("summ(up{<<.LabelMatchers>>})"),
                "unknown function with name \"summ\""},
        LintRow{"Range", Query("up{<<.LabelMatchers>>}[5m]"),
                "gives a range vector, expected an instant vector"},
        LintRow{"MetricsQl", Query("sum(up{<<.LabelMatchers>>}) by (<<.GroupBy>>) limit 5"),
                "unexpected identifier \"limit\""}),
    Name);

// A function of one version of Prometheus is none of the other.
TEST(LintConfigTest, EitherVersionOfPrometheusMayKnowAFunction) {
  for (const char* function : {"holt_winters", "double_exponential_smoothing"}) {
    const std::string rule =
        Query(absl::StrCat(function, "(up{<<.LabelMatchers>>}[5m], 0.5, 0.5)"));
    EXPECT_EQ(Listed(CompileRules(absl::StrCat("rules:\n- {", rule, "}\n"), "f").findings), "");
  }
}

// Files as they are in use have no warnings but these.
TEST(LintConfigTest, FilesInUse) {
  const std::string folder = absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/rules/good");
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const CompileResult result = CompileRules(text, entry.path().filename().string());
    EXPECT_NE(result.rules, nullptr) << Listed(result.findings);
    const size_t expected = entry.path().filename() == "documented.yaml" ? 3 : 0;
    EXPECT_EQ(result.findings.size(), expected) << Listed(result.findings);
    ++files;
  }
  EXPECT_EQ(files, 3);
}

}  // namespace
}  // namespace flyball::rules
