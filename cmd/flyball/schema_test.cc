#include <fstream>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "cmd/flyball/commands.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rule_tests/test_file.h"
#include "rules/compiled_rules.h"

namespace flyball::cmd {
namespace {

using Keys = std::set<std::string>;
using Pointer = nlohmann::json::json_pointer;

nlohmann::json Schema(const std::string& of) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunSchema({of}), 0);
  return nlohmann::json::parse(testing::internal::GetCapturedStdout(), nullptr, false);
}

// The keys of the properties at that place.
Keys KeysOf(const nlohmann::json& schema, const std::string& place) {
  Keys keys;
  const Pointer pointer(place + "/properties");
  if (!schema.contains(pointer)) return keys;
  for (const auto& item : schema[pointer].items()) keys.insert(item.key());
  return keys;
}

// The keys that a reader tells when it finds one that it does not know.
Keys Expected(const std::vector<rules::Finding>& findings) {
  for (const rules::Finding& finding : findings) {
    absl::string_view told = finding.message;
    if (!absl::ConsumePrefix(&told, "unknown key, expected ")) continue;
    absl::ConsumePrefix(&told, "one of ");
    const std::string list = absl::StrReplaceAll(told, {{" or ", ", "}});
    return absl::StrSplit(list, ", ");
  }
  return {};
}

// A file with the unknown key 7, and where the keys of its place stand in the schema of rule files
// and in that of the chart's values.
struct Place {
  const char* rules;
  const char* in_schema;
  const char* in_chart = nullptr;  // nullptr: the chart has other keys there
};

constexpr Place kPlaces[] = {
    {"7: 1", ""},
    {"rules: [{7: 1}]", "/definitions/rule", "/$defs/rule"},
    {"externalRules: [{seriesFilters: [{7: 1}]}]",
     "/definitions/rule/properties/seriesFilters/items",
     "/$defs/rule/properties/seriesFilters/items"},
    {"rules: [{resources: {7: 1}}]", "/definitions/resources", "/$defs/resources"},
    {"rules: [{resources: {overrides: {a: {7: 1}}}}]",
     "/definitions/resources/properties/overrides/additionalProperties",
     "/$defs/overrides/additionalProperties"},
    {"rules: [{name: {7: 1}}]", "/definitions/rule/properties/name", "/$defs/rule/properties/name"},
    {"externalRules: [{onFailure: {7: 1}}]", "/definitions/rule/properties/onFailure",
     "/$defs/rule/properties/onFailure"},
    {"externalRules: [{onFailure: {then: {7: 1}}}]",
     "/definitions/rule/properties/onFailure/properties/then/anyOf/1",
     "/$defs/rule/properties/onFailure/properties/then/anyOf/1"},
    {"resourceRules: {7: 1}", "/properties/resourceRules",
     "/properties/rules/properties/resource/anyOf/2"},
    {"resourceRules: {cpu: {7: 1}}", "/definitions/resourceRule", "/$defs/resourceQuery"},
};

TEST(RunSchema, OfRuleFilesAndOfTheChartHaveTheKeysThatAreRead) {
  const auto schema = Schema("rules");
  std::ifstream file(FLYBALL_SOURCE_DIR "/charts/flyball/values.schema.json");
  const auto chart = nlohmann::json::parse(file, nullptr, false);
  for (const Place& place : kPlaces) {
    const Keys keys = Expected(rules::CompileRules(place.rules, "rules.yaml").findings);
    EXPECT_FALSE(keys.empty()) << place.rules;
    EXPECT_EQ(KeysOf(schema, place.in_schema), keys) << place.rules;
    if (place.in_chart == nullptr) continue;
    EXPECT_EQ(KeysOf(chart, place.in_chart), keys) << place.rules;
  }
}

TEST(RunSchema, OfTestFilesHasTheKeysThatAreRead) {
  const auto schema = Schema("tests");
  for (const auto& [text, place] :
       {std::pair("7: 1", ""), std::pair("tests: [{7: 1}]", "/properties/tests/items"),
        std::pair("input_series: [{7: 1}]", "/properties/input_series/items")}) {
    rules::Findings findings("test.yaml");
    rule_tests::ReadRuleTestFile(text, findings);
    const Keys keys = Expected(std::move(findings).Take());
    EXPECT_FALSE(keys.empty()) << text;
    EXPECT_EQ(KeysOf(schema, place), keys) << text;
  }
}

TEST(RunSchema, Autoscalers) {
  const auto schema = Schema("autoscaler");
  EXPECT_TRUE(schema["properties"]["spec"]["properties"].contains("maxReplicas"));
  EXPECT_EQ(schema["type"], "object");
}

}  // namespace
}  // namespace flyball::cmd
