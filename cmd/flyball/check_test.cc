#include "cmd/flyball/commands.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace flyball::cmd {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Write(const std::string& name, const std::string& text) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  std::ofstream(path) << text;
  return path;
}

const char kGood[] =
    "rules:\n- seriesQuery: up\n  resources: {template: <<.Resource>>}\n"
    "  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)\n";
const char kWarned[] = "rules:\n- seriesQuery: up\n  metricsQuery: up{<<.LabelMatchers>>}\n";
const char kBad[] = "rules:\n- seriesQuery: up\n  name: {matches: '('}\n  foo: 1\n";

const char kRefused[] =
    "rules:\n- seriesQuery: up\n  resources: {template: <<.Resource>>}\n"
    "  metricsQuery: sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m]) by (<<.GroupBy>>)\n";

struct Row {
  std::string name;
  std::string text;
  bool strict = false;
  int status = 0;
  std::string out = {}, err = {};  // parts of the output
};

class CheckRulesTest : public testing::TestWithParam<Row> {};

TEST_P(CheckRulesTest, Row) {
  const Row& row = GetParam();
  std::ostringstream out, err;
  const std::string path = Write(row.name + ".yaml", row.text);
  EXPECT_EQ(CheckRules({.files = {path}, .strict = row.strict}, out, err), row.status);
  EXPECT_THAT(out.str(), HasSubstr(row.out));
  EXPECT_THAT(err.str(), HasSubstr(row.err));
  EXPECT_EQ(err.str().empty(), row.err.empty()) << err.str();
}

INSTANTIATE_TEST_SUITE_P(
    Status, CheckRulesTest,
    testing::Values(Row{.name = "GoodFilePasses",
                        .text = kGood,
                        .out = ": ok: 1 rule, 0 external rules, 0 warn"},
                    Row{.name = "WarningPasses",
                        .text = kWarned,
                        .out = "1 warning",
                        .err = "resources: warning: "},
                    Row{.name = "WarningFailsStrictly",
                        .text = kWarned,
                        .strict = true,
                        .status = 1,
                        .err = "is ever registered"},
                    Row{.name = "AllErrorsAtOnce",
                        .text = kBad,
                        .status = 1,
                        .err = ".yaml:4:3: rules[0].foo: "},
                    Row{.name = "FirstErrorToo",
                        .text = kBad,
                        .status = 1,
                        .err = ".yaml:3:19: rules[0].name.matches: bad regular expression"},
                    Row{.name = "RefusedQueryFails",
                        .text = kRefused,
                        .status = 1,
                        .err = ".yaml:4:17: rules[0].metricsQuery: parse error at 1:"},
                    Row{.name = "NothingToServeIsAWarning",
                        .text = "",
                        .strict = true,
                        .status = 1,
                        .err = "warning: no rules: nothing is served"}),
    [](const auto& info) { return info.param.name; });

TEST(CheckRulesTest, MissingFileFailsButOthersAreChecked) {
  std::ostringstream out, err;
  const std::string good = Write("other.yaml", kGood);
  EXPECT_EQ(CheckRules({.files = {"/nonexistent.yaml", good}}, out, err), 2);
  EXPECT_THAT(err.str(), StartsWith("/nonexistent.yaml: cannot be read"));
  EXPECT_THAT(out.str(), HasSubstr("other.yaml: ok"));
}

TEST(CheckRulesTest, AFolderIsNoRuleFile) {
  std::ostringstream out, err;
  EXPECT_EQ(CheckRules({.files = {"/proc"}}, out, err), 2);
  EXPECT_EQ(err.str(), "/proc: cannot be read: Is a directory, expected a rule file\n");
}

TEST(CheckRulesTest, WhatOnlyVictoriaMetricsTakesIsAWarning) {
  std::ostringstream out, err;
  const std::string path = Write("metricsql.yaml", kRefused);
  EXPECT_EQ(CheckRules({.files = {path}, .metricsql = true}, out, err), 0);
  EXPECT_THAT(err.str(), HasSubstr("metricsQuery: warning: parse error at"));
}

TEST(CheckRulesTest, ReportsForOtherPrograms) {
  const std::string path = Write("report.yaml", kRefused);
  const auto report = [&](const char* format) {
    std::ostringstream out, err;
    EXPECT_EQ(CheckRules({.files = {path}, .format = format}, out, err), 1);
    EXPECT_EQ(err.str(), "");
    return out.str();
  };
  const auto json = nlohmann::json::parse(report("json"));
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["files"][0]["findings"][0]["line"], 4);
  EXPECT_EQ(json["files"][0]["findings"][0]["field"], "rules[0].metricsQuery");
  const auto sarif = nlohmann::json::parse(report("sarif"));
  const auto& result = sarif["runs"][0]["results"][0];
  EXPECT_EQ(result["ruleId"], "promql");
  EXPECT_EQ(result["locations"][0]["physicalLocation"]["region"]["startColumn"], 17);
  EXPECT_THAT(report("github"),
              HasSubstr("report.yaml,line=4,col=17::rules[0].metricsQuery: parse error at"));
  EXPECT_THAT(report("yaml"), HasSubstr("errors: 1\n"));
}

TEST(RunCheckTest, FilesAlsoByTheFlagOfKubectl) {
  const std::string path = Write("flag.yaml", kGood);
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunCheck({"rules", "-f", path, "-o", "JSON"}), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("\"ok\": true"));
}

TEST(RunCheckTest, ADashIsStandardInput) {
  const int file = open(Write("stdin.yaml", kRefused).c_str(), O_RDONLY | O_CLOEXEC);
  const int before = dup(STDIN_FILENO);
  ASSERT_GE(dup2(file, STDIN_FILENO), 0);
  testing::internal::CaptureStderr();
  const int status = RunCheck({"rules", "-"});
  dup2(before, STDIN_FILENO);
  close(before);
  close(file);
  EXPECT_EQ(status, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(":4:17: rules[0].metricsQuery"));
}

TEST(RunCheckTest, UsageErrorsAreStatus2) {
  EXPECT_EQ(RunCheck({}), 2);
  EXPECT_EQ(RunCheck({"rules"}), 2);
  EXPECT_EQ(RunCheck({"rules", "--nope", "x"}), 2);
  EXPECT_EQ(RunCheck({"--help"}), 0);
}

}  // namespace
}  // namespace flyball::cmd
