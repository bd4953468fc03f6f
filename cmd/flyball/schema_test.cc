#include <nlohmann/json.hpp>

#include "cmd/flyball/commands.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace flyball::cmd {
namespace {

nlohmann::json Schema(const std::string& of) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunSchema({of}), 0);
  return nlohmann::json::parse(testing::internal::GetCapturedStdout(), nullptr, false);
}

TEST(RunSchema, RuleFiles) {
  const auto schema = Schema("rules");
  const auto& rule = schema["definitions"]["rule"]["properties"];
  for (const char* key : {"seriesQuery", "seriesFilters", "resources", "name", "metricsQuery"}) {
    EXPECT_TRUE(rule.contains(key)) << key;
  }
  EXPECT_EQ(rule.size(), 5u) << "as many as a rule has";
}

TEST(RunSchema, TestFiles) {
  EXPECT_TRUE(Schema("tests")["properties"]["tests"]["items"]["properties"].contains("promql"));
}

TEST(RunSchema, Autoscalers) {
  const auto schema = Schema("autoscaler");
  EXPECT_TRUE(schema["properties"]["spec"]["properties"].contains("maxReplicas"));
  EXPECT_EQ(schema["type"], "object");
}

}  // namespace
}  // namespace flyball::cmd
