#include "rule_tests/test_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace flyball::rule_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr absl::string_view kRules = R"(rules:
- seriesQuery: hits_total
  resources: {overrides: {ns: {resource: namespace}, pod: {resource: pod}}}
  name: {matches: ^(.*)_total$}
  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[1m])) by (<<.GroupBy>>)
- seriesQuery: misses_total
  resources: {overrides: {ns: {resource: namespace}, pod: {resource: pod}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
)";

// 60 hits a minute: at 5m, 40 between 4m20s and 5m, times (40+20)/40/60, are 1 a second.
constexpr absl::string_view kFile = R"(rule_files: [rules.yaml]
interval: 20s
input_series:
- {series: 'hits_total{ns="web",pod="a"}', values: 0+20x30}
objects:
- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: web}}
tests:
)";

constexpr absl::string_view kRequest =
    "- request: /apis/custom.metrics.k8s.io/v1beta2/namespaces/web/pods/a/hits\n";

class TestRulesTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              absl::StrCat("flyball-test-rules-", testing::UnitTest::GetInstance()->random_seed(),
                           "-", ::getpid(), "-",
                           testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    Write("rules.yaml", kRules);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, absl::string_view text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  // The exit status; what was printed is in out_ and err_.
  int Run(absl::string_view text) {
    Write("test.yaml", text);
    std::ostringstream out, err;
    const int status = TestRules(
        {.files = {(folder_ / "test.yaml").string()}, .run = run_, .format = format_}, out, err);
    out_ = out.str();
    err_ = err.str();
    return status;
  }

  std::filesystem::path folder_;
  std::string out_, err_;
  std::string run_;
  TestFormat format_ = TestFormat::kText;
};

TEST_F(TestRulesTest, PassesAndNamesRulesWithoutATest) {
  EXPECT_EQ(Run(absl::StrCat(kFile, kRequest,
                             "  promql: sum(rate(hits_total{ns=\"web\",pod=\"a\"}[1m])) by (pod)\n"
                             "  answer: {items: [{object: Pod/a, value: 1}]}\n")),
            0)
      << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("test.yaml: ok: 1 passed"));
  EXPECT_THAT(err_, HasSubstr("rules[1]: warning: no test asks for a metric of this rule"));
  EXPECT_THAT(err_, Not(HasSubstr("rules[0]")));
}

TEST_F(TestRulesTest, TellsEachDifference) {
  EXPECT_EQ(
      Run(absl::StrCat(kFile, kRequest,
                       "  name: all wrong\n"
                       "  promql: [sum(hits_total)]\n"
                       "  answer: {kind: Other, items: [{object: Pod/b, value: 2, new: 1}]}\n")),
      1);
  EXPECT_THAT(out_, HasSubstr("FAIL  all wrong"));
  EXPECT_THAT(out_, HasSubstr("expected: sum(hits_total)\n"));
  EXPECT_THAT(out_,
              HasSubstr("got:      sum(rate(hits_total{ns=\"web\",pod=\"a\"}[1m])) by (pod)"));
  EXPECT_THAT(out_, HasSubstr("answer.kind: expected \"Other\", got \"MetricValueList\""));
  EXPECT_THAT(out_, HasSubstr("answer.items[0].object: expected \"Pod/b\", got \"Pod/a\""));
  EXPECT_THAT(out_, HasSubstr("answer.items[0].value: expected \"2\", got \"1\""));
  EXPECT_THAT(out_, HasSubstr("answer.items[0].new: expected a value, got none among"));
  EXPECT_THAT(out_, HasSubstr("test.yaml: FAILED: 1 of 1"));
}

TEST_F(TestRulesTest, AQueryMayLookBackToTheFirstSample) {
  Write("rules.yaml", R"(rules:
- seriesQuery: hits
  resources: {overrides: {ns: {resource: namespace}, pod: {resource: pod}}}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>} offset 2w) by (<<.GroupBy>>)
)");
  EXPECT_EQ(Run(R"(rule_files: [rules.yaml]
interval: 1w
input_series:
- {series: 'hits{ns="web",pod="a"}', values: 7 8 9}
objects:
- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: web}}
tests:
- request: /apis/custom.metrics.k8s.io/v1beta2/namespaces/web/pods/a/hits
  eval_time: 2w
  answer: {items: [{object: Pod/a, value: 7}]}
)"),
            0)
      << out_ << err_;
}

// The rules that a test asks are the server's own: where the template keeps namespaces apart, one
// pair of queries is for the pods of all of them.
TEST_F(TestRulesTest, AsksAllNamespacesAsTheServerDoes) {
  Write("rules.yaml", R"(resourceRules:
  cpu:
    containerQuery: sum by (<<.GroupBy>>, ns) (cpu{<<.LabelMatchers>>})
    nodeQuery: sum by (<<.GroupBy>>) (cpu{<<.LabelMatchers>>})
    containerLabel: ctr
    resources: &labels
      overrides: {ns: {resource: namespace}, po: {resource: pod}, no: {resource: node}}
  memory:
    containerQuery: sum by (<<.GroupBy>>, ns) (mem{<<.LabelMatchers>>})
    nodeQuery: sum by (<<.GroupBy>>) (mem{<<.LabelMatchers>>})
    containerLabel: ctr
    resources: *labels
  window: 1m
)");
  EXPECT_EQ(Run(R"(rule_files: [rules.yaml]
input_series:
- {series: 'cpu{ns="n1",po="a",ctr="c"}', values: 1x9}
- {series: 'cpu{ns="n2",po="b",ctr="c"}', values: 2x9}
objects:
- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: n1}, status: {phase: Running}}
- {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: n2}, status: {phase: Running}}
tests:
- request: /apis/metrics.k8s.io/v1beta1/pods
  promql: ['sum by (po,ctr, ns) (cpu{po=~"a|b"})', 'sum by (po,ctr, ns) (mem{po=~"a|b"})']
)"),
            0)
      << out_ << err_;
}

TEST_F(TestRulesTest, ErrorsHaveCodesAndMessages) {
  const std::string file = absl::StrCat(
      kFile, "- request: /apis/custom.metrics.k8s.io/v1beta2/namespaces/web/pods/a/none\n");
  EXPECT_EQ(Run(absl::StrCat(file,
                             "  code: 404\n"
                             "  message: the server could not find the metric none for pods\n")),
            0)
      << out_;
  EXPECT_EQ(Run(absl::StrCat(file, "  code: 200\n")), 1);
  EXPECT_THAT(out_, HasSubstr("code: expected 200, got 404: the server could not find the metric "
                              "none for pods"));
}

TEST_F(TestRulesTest, SamplesAfterTheEvaluationTimeDoNotExistYet) {
  EXPECT_EQ(Run(absl::StrCat(kFile, kRequest, "  eval_time: 20s\n  code: 200\n")), 0)
      << "two samples make a rate: " << out_;
  EXPECT_EQ(Run(absl::StrCat(kFile, kRequest, "  eval_time: 19s\n  code: 404\n")), 0) << out_;
}

TEST_F(TestRulesTest, AQueryThatFailsSaysWhy) {
  Write("rules.yaml",
        "rules:\n"
        "- seriesQuery: hits_total\n"
        "  resources: {overrides: {ns: {resource: namespace}, pod: {resource: pod}}}\n"
        "  name: {matches: ^(.*)_total$}\n"
        "  metricsQuery: rate(<<.Series>>{<<.LabelMatchers>>})\n");
  EXPECT_EQ(Run(absl::StrCat(kFile, kRequest)), 1);
  EXPECT_THAT(out_, HasSubstr("code: expected 200, got 500: "));
  EXPECT_THAT(out_, HasSubstr("query failed: rate(hits_total{ns=\"web\",pod=\"a\"}): 1:6: parse "
                              "error: expected type range vector in call to function \"rate\", got "
                              "instant vector"));
}

TEST_F(TestRulesTest, AllErrorsOfAFileAtOnceWithTheirPlaces) {
  EXPECT_EQ(Run("rule_files: [missing.yaml]\n"     // 1
                "interval: fast\n"                 // 2
                "speed: 1\n"                       // 3
                "input_series:\n"                  // 4
                "- series: hits{pod=~\"a\"}\n"     // 5
                "  values: 1 two\n"                // 6
                "objects:\n"                       // 7
                "- {apiVersion: v1, kind: Pod}\n"  // 8
                "tests:\n"                         // 9
                "- {request: /x, code: many, request: /y}\n"),
            1);
  EXPECT_THAT(err_, HasSubstr("test.yaml:1:14: rule_files[0]: "));
  EXPECT_THAT(err_, HasSubstr("test.yaml:2:11: interval: found \"fast\", expected a duration"));
  EXPECT_THAT(err_, HasSubstr("test.yaml:3:1: speed: unknown key, expected one of rule_files, "));
  EXPECT_THAT(err_, HasSubstr("test.yaml:5:11: input_series[0].series: found pod=~\"a\", "));
  EXPECT_THAT(err_, HasSubstr("test.yaml:6:11: input_series[0].values: \"two\" is not a number"));
  EXPECT_THAT(err_, HasSubstr("test.yaml:8:3: objects[0]: the Pod has no metadata.name"));
  EXPECT_THAT(err_, HasSubstr("test.yaml:10:23: tests[0].code: found \"many\", expected an HTTP"));
  EXPECT_THAT(err_, HasSubstr("test.yaml:10:29: tests[0].request: given twice"));
  EXPECT_EQ(out_, "") << "no test runs";
}

TEST_F(TestRulesTest, BrokenFilesAreNamed) {
  EXPECT_EQ(Run("tests: [\n"), 1);
  EXPECT_THAT(err_, HasSubstr("test.yaml:2:1: not YAML: "));
  EXPECT_EQ(Run(""), 1);
  EXPECT_THAT(err_, HasSubstr("holds 0 documents, expected one"));
  EXPECT_EQ(Run("{}"), 1);
  EXPECT_THAT(err_, HasSubstr("rule_files: missing"));
  EXPECT_THAT(err_, HasSubstr("tests: missing"));
  Write("rules.yaml", "rules: [{metricsQuery: <<.Nothing}]\n");
  EXPECT_EQ(Run(absl::StrCat(kFile, kRequest)), 1);
  EXPECT_THAT(err_, HasSubstr("rules.yaml:1:"));
}

TEST_F(TestRulesTest, ObjectsComeFromManifestsToo) {
  Write("objects.yaml",
        "apiVersion: v1\nkind: List\nitems:\n"
        "- {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: web, labels: {x: y}}}\n");
  const std::string all =
      "- request: /apis/custom.metrics.k8s.io/v1beta2/namespaces/web/pods/*/hits"
      "?labelSelector=x%3Dy\n"
      "  promql: sum(rate(hits_total{ns=\"web\",pod=\"b\"}[1m])) by (pod)\n"
      "  answer: {items: []}\n";
  EXPECT_EQ(Run(absl::StrCat("object_files: [objects.yaml]\n", kFile, all)), 0) << out_ << err_;
  Write("objects.yaml", "apiVersion: v1\nkind: Pod\n");
  EXPECT_EQ(Run(absl::StrCat("object_files: [objects.yaml]\n", kFile, all)), 1);
  EXPECT_THAT(err_, HasSubstr("objects.yaml:1:1: the Pod has no metadata.name"));
}

TEST_F(TestRulesTest, EqualSeriesWithOtherValuesAreAnError) {
  EXPECT_EQ(Run("rule_files: [rules.yaml]\n"
                "input_series:\n"
                "- {series: x, values: 1}\n"
                "- {series: x, values: 2}\n"
                "tests:\n"
                "- {name: any, request: /}\n"),
            1);
  EXPECT_THAT(out_, HasSubstr("input_series: duplicate sample for timestamp for x"));
}

TEST_F(TestRulesTest, ReportsForOtherPrograms) {
  const std::string wrong = absl::StrCat(
      kFile, kRequest, "  name: 'a <b>'\n  answer: {items: [{object: Pod/a, value: 7}]}\n");
  format_ = TestFormat::kJunit;
  EXPECT_EQ(Run(wrong), 1);
  EXPECT_THAT(out_, HasSubstr("tests=\"1\" failures=\"1\" errors=\"0\""));
  EXPECT_THAT(out_, HasSubstr("name=\"a &lt;b&gt;\""));
  EXPECT_THAT(out_, HasSubstr("<failure message="));
  format_ = TestFormat::kJson;
  EXPECT_EQ(Run(wrong), 1);
  EXPECT_THAT(out_, HasSubstr("\"failed\": 1"));
}

TEST_F(TestRulesTest, OnlyTestsThatAreAskedForRun) {
  const std::string file =
      absl::StrCat(kFile, kRequest, "  name: one\n", kRequest, "  name: two\n  code: 404\n");
  run_ = "^one$";
  EXPECT_EQ(Run(file), 0) << out_;
  EXPECT_THAT(out_, HasSubstr("ok: 1 passed"));
  EXPECT_EQ(err_, "") << "what was left out is not complained of";
  run_ = "^nothing$";
  EXPECT_EQ(Run(file), 2) << "the word is wrong";
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, "flyball test rules: --run: no test matches ^nothing$\n");
}

TEST_F(TestRulesTest, AnAnswerThatIsNoJsonIsShown) {
  EXPECT_EQ(Run(absl::StrCat(kFile, "- {request: /healthz, answer: {a: 1}}\n")), 1);
  EXPECT_THAT(out_, HasSubstr("answer: expected JSON, got \"ok\"\n"));
}

TEST_F(TestRulesTest, SeveralFilesHaveATotal) {
  Write("good.yaml", absl::StrCat(kFile, kRequest, "  code: 200\n"));
  std::ostringstream out, err;
  const std::string good = (folder_ / "good.yaml").string();
  EXPECT_EQ(TestRules({.files = {good, "/nonexistent.yaml"}}, out, err), 2);
  EXPECT_THAT(out.str(), HasSubstr("2 files: 1 passed, 0 failed, 1 file cannot be used"));
}

}  // namespace
}  // namespace flyball::rule_tests
