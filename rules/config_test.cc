#include "rules/config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace flyball::rules {
namespace {

using nlohmann::json;

// The config as the original's JSON form shows it: what is unset is left out where it does so.

json Shown(const MappingConfig& mapping) {
  json out = json::object();
  if (!mapping.label_template.text.empty()) out["template"] = mapping.label_template.text;
  for (const OverrideConfig& item : mapping.overrides) {
    json& resource = out["overrides"][item.label.text];
    if (!item.group.text.empty()) resource["group"] = item.group.text;
    resource["resource"] = item.resource.text;
  }
  if (mapping.namespaced) out["namespaced"] = *mapping.namespaced;
  return out;
}

json Shown(const std::vector<RuleConfig>& rules) {
  json out = json::array();
  for (const RuleConfig& rule : rules) {
    json filters = json::array();
    for (const FilterConfig& filter : rule.filters) {
      json shown = json::object();
      if (!filter.is.text.empty()) shown["is"] = filter.is.text;
      if (!filter.is_not.text.empty()) shown["isNot"] = filter.is_not.text;
      filters.push_back(shown);
    }
    json shown = {{"seriesQuery", rule.series_query.text},
                  {"seriesFilters", filters},
                  {"resources", Shown(rule.resources)},
                  {"name", {{"matches", rule.name.matches.text}, {"as", rule.name.as.text}}}};
    if (!rule.metrics_query.text.empty()) shown["metricsQuery"] = rule.metrics_query.text;
    out.push_back(shown);
  }
  return out;
}

json Shown(const ResourceRuleConfig& rule) {
  return {{"containerQuery", rule.container_query.text},
          {"nodeQuery", rule.node_query.text},
          {"resources", Shown(rule.resources)},
          {"containerLabel", rule.container_label.text}};
}

json Shown(const Config& config) {
  json out = {{"rules", Shown(config.rules)}};
  if (!config.external_rules.empty()) out["externalRules"] = Shown(config.external_rules);
  if (config.resource_rules) {
    out["resourceRules"] = {{"cpu", Shown(config.resource_rules->cpu)},
                            {"memory", Shown(config.resource_rules->memory)},
                            {"window", absl::FormatDuration(config.resource_rules->window)}};
  }
  return out;
}

// Lists that are not there read as empty ones, and a window is compared by its length.
json Normalized(json config) {
  for (const char* list : {"rules", "externalRules"}) {
    if (!config.contains(list)) continue;
    if (config[list].is_null()) config[list] = json::array();
    for (json& rule : config[list]) {
      if (rule["seriesFilters"].is_null()) rule["seriesFilters"] = json::array();
    }
  }
  if (config.contains("resourceRules")) {
    json& window = config["resourceRules"]["window"];
    const auto duration = ParsePrometheusDuration(window.get<std::string>());
    window = absl::FormatDuration(duration.value_or(-absl::Seconds(1)));
  }
  return config;
}

std::string Listed(const std::vector<Finding>& findings) {
  return absl::StrJoin(findings, "\n", [](std::string* out, const Finding& finding) {
    absl::StrAppend(out, finding.ToString());
  });
}

// Each row of test/data/rules/original.jsonl: a file, whether prometheus-adapter 0.12.0 takes it,
// and how it understands it.
TEST(ReadConfigTest, TakesWhatTheOriginalTakes) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/rules/original.jsonl"));
  int rows = 0;
  for (std::string line; std::getline(in, line); ++rows) {
    const json row = json::parse(line, nullptr, false);
    const std::string text = row.at("text");
    const CompileResult result = CompileRules(text, "f");
    EXPECT_EQ(result.rules != nullptr, row.at("ok").get<bool>()) << text << "\n"
                                                                 << Listed(result.findings);
    if (!row.at("ok").get<bool>() || result.rules == nullptr) continue;
    Findings findings("f");
    EXPECT_EQ(Shown(ReadConfig(text, findings)), Normalized(row.at("config"))) << text;
  }
  EXPECT_GT(rows, 500);
}

}  // namespace
}  // namespace flyball::rules
