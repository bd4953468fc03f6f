#include "doctor/finding.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::doctor {
namespace {

using testing::HasSubstr;

Report Sample() {
  Findings cluster;
  cluster.push_back(Good("api-server", "Kubernetes v1.34.4"));
  cluster.push_back(Doubt("service", "one pod is not ready", "look at its log"));
  Findings hpa;
  hpa.push_back(Bad("metric", "no value\nat \x1b[31mall", "write a rule"));
  return {{"cluster", cluster}, {"empty", {}}, {"hpa shop/web", hpa}};
}

TEST(ReportText, HasAMarkAndAFixForEachFinding) {
  EXPECT_EQ(ReportText(Sample()),
            "cluster\n"
            "  ✓ Kubernetes v1.34.4\n"
            "  ! one pod is not ready\n"
            "    fix: look at its log\n"
            "\n"
            "hpa shop/web\n"
            "  ✗ no value at \\x1b[31mall\n"
            "    fix: write a rule\n"
            "\n"
            "1 problem, 1 warning\n");
}

TEST(ReportText, OfSeveralProblemsTheFirstIsNamedLast) {
  const Findings first = {Bad("a", "the APIService is not Available", "")};
  const Findings second = {Bad("b", "no metric", "")};
  const std::string text = ReportText({{"cluster", first}, {"hpa", second}});
  EXPECT_THAT(text, testing::EndsWith("2 problems\nbegin with: the APIService is not Available\n"));
}

TEST(ReportText, HasNoControlCharactersOfTwoBytes) {
  EXPECT_THAT(ReportText({{"cluster", {Good("a", "\xc2\x9bm")}}}), HasSubstr(R"(\xc2\x9bm)"));
}

TEST(ReportText, SaysThatNothingIsWrong) {
  Findings good;
  good.push_back(Good("a", "all well"));
  EXPECT_EQ(ReportText({{"cluster", good}}), "cluster\n  ✓ all well\n\nno problems\n");
}

TEST(ReportJson, HasTheSameForMachines) {
  const std::string json = ReportJson(Sample());
  EXPECT_THAT(json, HasSubstr(R"("problems": 1,)"));
  EXPECT_THAT(json, HasSubstr(R"("warnings": 1,)"));
  EXPECT_THAT(json, HasSubstr(R"("level": "problem",
          "check": "metric",
          "text": "no value\nat \u001b[31mall",
          "fix": "write a rule")"));
}

TEST(ReportJson, TakesTextThatIsNotUtf8) {
  Findings findings;
  findings.push_back(Good("a", "\xff"));
  EXPECT_THAT(ReportJson({{"cluster", findings}}), HasSubstr("\"problems\": 0"));
}

}  // namespace
}  // namespace flyball::doctor
