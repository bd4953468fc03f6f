#include "serve/debug_pages.h"

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "gtest/gtest.h"

namespace flyball::serve {
namespace {

TEST(DebugRulesJsonTest, TellsWhatEachRuleFound) {
  adapter::RuleStatus good;
  good.list = "rules";
  good.series = 3;
  good.source = "live";
  good.last_answer = adapter::RuleStatus::Answered{.at = absl::FromUnixSeconds(1700000001),
                                                   .by = "live",
                                                   .promql = "sum(rps)",
                                                   .values = 4,
                                                   .took = absl::Milliseconds(20)};
  good.last_success = absl::FromUnixSeconds(1700000000);
  adapter::RuleStatus bad;
  bad.list = "externalRules";
  bad.series_query = "\xff";
  bad.error = "down";
  const auto document = nlohmann::json::parse(DebugRulesJson({.rules = {good, bad}}));
  EXPECT_EQ(document["ruleFile"]["inForce"], true);
  EXPECT_EQ(document["rules"][0]["series"], 3);
  EXPECT_EQ(document["rules"][0]["source"], "live");
  EXPECT_EQ(document["rules"][0]["answeredBy"], "live");
  const auto& answer = document["rules"][0]["queries"]["lastAnswer"];
  EXPECT_EQ(answer["at"], "2023-11-14T22:13:21Z");
  EXPECT_EQ(answer["promql"], "sum(rps)");
  EXPECT_EQ(answer["values"], 4);
  EXPECT_EQ(answer["durationSeconds"], 0.02);
  EXPECT_FALSE(document["rules"][1]["queries"].contains("lastAnswer"));
  EXPECT_FALSE(document["rules"][1].contains("source"));
  EXPECT_EQ(document["rules"][0]["lastSuccess"], "2023-11-14T22:13:20Z");
  EXPECT_TRUE(document["rules"][1]["lastSuccess"].is_null());
  EXPECT_EQ(document["rules"][1]["error"], "down");
}

TEST(DebugDecisionsJsonTest, OnlyTheBeginningOfALongParameterIsRepeated) {
  SimulatedClock clock(absl::UnixEpoch());
  const scaler::DecisionLog log;
  const scaler::Shadow shadow(scaler::ShadowOptions(), clock);
  for (const absl::string_view wrong : {"kind", "report"}) {
    const std::string page = DebugDecisionsJson(
        {.log = log, .shadow = shadow, .replica = "r"}, [wrong](const char* name) {
          return name == wrong ? std::string(100'000, 'x') : std::string();
        });
    EXPECT_NE(page.find("bytes more)"), std::string::npos) << wrong;
    EXPECT_LT(page.size(), 1000u) << wrong;
  }
}

TEST(DebugRulesJsonTest, TellsOfARefusedFile) {
  const auto document = nlohmann::json::parse(
      DebugRulesJson({.last_reload = absl::InvalidArgumentError("c.yaml:1:1: no")}));
  EXPECT_EQ(document["ruleFile"]["inForce"], false);
  EXPECT_EQ(document["ruleFile"]["error"], "c.yaml:1:1: no");
}

TEST(DebugRulesJsonTest, TellsOfQueriesThatFailAndOfPrometheus) {
  adapter::RuleStatus rule;
  rule.metrics = {"pods/rps"};
  rule.last_failure = adapter::RuleFailure{.in_all = 7,
                                           .in_a_row = 2,
                                           .metric = "rps",
                                           .promql = "sum(",
                                           .error = "400",
                                           .at = absl::FromUnixSeconds(1700000000)};
  const auto document = nlohmann::json::parse(DebugRulesJson(
      {.rules = {rule}, .servers = {{"http://p", false, "refused"}}, .version = "0.1.0"}));
  EXPECT_EQ(document["version"], "0.1.0");
  EXPECT_EQ(document["prometheus"][0].dump(),
            R"({"lastError":"refused","reachable":false,"url":"http://p"})");
  const auto& shown = document["rules"][0];
  EXPECT_EQ(shown["metrics"].dump(), R"(["pods/rps"])");
  EXPECT_EQ(shown["queries"]["failing"], true);
  EXPECT_EQ(shown["queries"]["failuresTotal"], 7);
  EXPECT_EQ(shown["queries"]["lastFailure"]["promql"], "sum(");
  EXPECT_EQ(shown["queries"]["lastFailure"]["at"], "2023-11-14T22:13:20Z");
}

}  // namespace
}  // namespace flyball::serve
