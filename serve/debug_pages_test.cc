#include "serve/debug_pages.h"

#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace flyball::serve {
namespace {

TEST(DebugRulesJsonTest, TellsWhatEachRuleFound) {
  adapter::RuleStatus good;
  good.list = "rules";
  good.series = 3;
  good.source = good.answered_by = "live";
  good.last_success = absl::FromUnixSeconds(1700000000);
  adapter::RuleStatus bad;
  bad.list = "externalRules";
  bad.series_query = "\xff";
  bad.error = "down";
  const auto document = nlohmann::json::parse(DebugRulesJson({good, bad}, absl::OkStatus()));
  EXPECT_EQ(document["ruleFile"]["inForce"], true);
  EXPECT_EQ(document["rules"][0]["series"], 3);
  EXPECT_EQ(document["rules"][0]["source"], "live");
  EXPECT_EQ(document["rules"][0]["answeredBy"], "live");
  EXPECT_FALSE(document["rules"][1].contains("source"));
  EXPECT_EQ(document["rules"][0]["lastSuccess"], "2023-11-14T22:13:20Z");
  EXPECT_TRUE(document["rules"][1]["lastSuccess"].is_null());
  EXPECT_EQ(document["rules"][1]["error"], "down");
}

TEST(DebugRulesJsonTest, TellsOfARefusedFile) {
  const auto document =
      nlohmann::json::parse(DebugRulesJson({}, absl::InvalidArgumentError("c.yaml:1:1: no")));
  EXPECT_EQ(document["ruleFile"]["inForce"], false);
  EXPECT_EQ(document["ruleFile"]["error"], "c.yaml:1:1: no");
}

}  // namespace
}  // namespace flyball::serve
