#include "rules/config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rules/compiled_rules.h"

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

// The same of test/data/rules/yaml.jsonl, as far as reading goes: bytes of any kind, whether its
// yaml.v2 takes them, and what it reads.
TEST(ReadConfigTest, ReadsTheYamlThatTheOriginalReads) {
  std::ifstream in(absl::StrCat(FLYBALL_SOURCE_DIR, "/test/data/rules/yaml.jsonl"));
  int rows = 0;
  for (std::string line; std::getline(in, line); ++rows) {
    const json row = json::parse(line, nullptr, false);
    std::string text = row.value("text", "");
    if (row.contains("base64")) {
      ASSERT_TRUE(absl::Base64Unescape(row["base64"].get<std::string>(), &text));
    }
    Findings findings("f");
    const Config config = ReadConfig(text, findings);
    EXPECT_EQ(!findings.has_errors(), row.at("ok").get<bool>())
        << text << "\n"
        << Listed(std::move(findings).Take());
    if (row.at("ok").get<bool>()) {
      EXPECT_EQ(Shown(config), Normalized(row.at("config"))) << text;
    }
  }
  EXPECT_GT(rows, 700);
}

// Errors: where, which field, what is expected.

struct ErrorRow {
  std::string name;
  std::string text;
  std::string findings;  // all of them
};

class ErrorsTest : public testing::TestWithParam<ErrorRow> {};

TEST_P(ErrorsTest, Row) {
  EXPECT_EQ(Listed(CompileRules(GetParam().text, "f").findings), GetParam().findings);
}

INSTANTIATE_TEST_SUITE_P(
    Told, ErrorsTest,
    testing::Values(
        ErrorRow{"UnknownKey", "rules: []\nruls: []\n",
                 "f:2:1: ruls: unknown key, expected rules, externalRules or resourceRules"},
        ErrorRow{"WrongCase", "Rules: []\n",
                 "f:1:1: Rules: unknown key, expected rules (keys are case-sensitive)"},
        ErrorRow{"WrongType", "rules: {a: b}\n", "f:1:8: rules: found a mapping, expected a list"},
        ErrorRow{"QuotedBoolean",
                 "externalRules:\n- {seriesQuery: up, metricsQuery: 'up{<<.LabelMatchers>>}', "
                 "resources: {template: <<.Resource>>, namespaced: 'yes'}}\n",
                 "f:2:110: externalRules[0].resources.namespaced: found the quoted text \"yes\", "
                 "expected true or false, without quotes"},
        ErrorRow{"UnknownSource",
                 "externalRules:\n- {seriesQuery: up, metricsQuery: 'up{<<.LabelMatchers>>}', "
                 "resources: {template: <<.Resource>>}, source: thanos}\n",
                 "f:2:107: externalRules[0].source: is \"thanos\", expected live or prometheus"},
        ErrorRow{"NotYaml", "rules: [\n",
                 "f:2:1: not YAML: did not find expected node content while parsing a flow node"},
        ErrorRow{"OpenQuote", "rules: 'x\n",
                 "f:2:1: not YAML: found unexpected end of stream while scanning a quoted scalar "
                 "from 1:8"},
        ErrorRow{"ControlCharacter", "rules: []\n# \x1b\n",
                 "f:2:3: not YAML: control characters are not allowed"},
        ErrorRow{"NotUtf8", "rules: []\n\n#caf\xe9s are\n",
                 "f:3:6: not YAML: invalid trailing UTF-8 octet"},
        ErrorRow{"UnknownAnchor", "rules: *a\n", "f:1:8: not YAML: there is no anchor &a above"},
        ErrorRow{
            "WrongTag", "resourceRules: {window: !!int 5m}\n",
            "f:1:16: resourceRules.cpu: warning: is missing: no pod and no node has metrics "
            "without both cpu and memory\n"
            "f:1:16: resourceRules.memory: warning: is missing: no pod and no node has metrics "
            "without both cpu and memory\n"
            "f:1:16: resourceRules.window: warning: is missing or 0, expected the range that "
            "the queries look back, such as 5m\n"
            "f:1:25: resourceRules.window: found \"5m\", expected text that fits its tag"},
        ErrorRow{
            "CapitalNullIsNoDuration", "resourceRules: {window: NULL}\n",
            "f:1:16: resourceRules.cpu: warning: is missing: no pod and no node has metrics "
            "without both cpu and memory\n"
            "f:1:16: resourceRules.memory: warning: is missing: no pod and no node has metrics "
            "without both cpu and memory\n"
            "f:1:16: resourceRules.window: warning: is missing or 0, expected the range that "
            "the queries look back, such as 5m\n"
            "f:1:25: resourceRules.window: found nothing, expected a duration such as 5m, 1h30m "
            "or 0, largest unit first"},
        ErrorRow{"SecondDocument", "rules: []\n---\nrules: [\n",
                 "f: warning: no rules: nothing is served\n"
                 "f:2:1: warning: this document is ignored, only the first is read"},
        ErrorRow{
            "AllAtOnce",
            "rules:\n"
            "- {seriesQuery: a, metricsQuery: '<<.Series', name: {matches: '(a)(b)'},\n"
            "   resources: {template: pod, overrides: {x: {}}}, seriesFilters: [{}]}\n"
            "resourceRules: {window: 1.5m}\n",
            "f:2:34: rules[0].metricsQuery: bad template at 1:1: unclosed action: no >> follows "
            "this <<\n"
            "f:2:63: rules[0].name.as: is missing: name.matches has 2 capture groups, expected "
            "a name made of them such as \"$1_$2\"\n"
            "f:3:26: rules[0].resources.template: the template does not use <<.Resource>>, so "
            "no label tells a resource, expected one such as \"<<.Resource>>\"\n"
            "f:3:43: rules[0].resources.overrides.x.resource: is missing, expected the name of "
            "a resource such as \"pod\"\n"
            "f:3:68: rules[0].seriesFilters[0]: has neither is nor isNot, expected exactly one "
            "of them\n"
            "f:4:16: resourceRules.cpu: warning: is missing: no pod and no node has metrics "
            "without both cpu and memory\n"
            "f:4:16: resourceRules.memory: warning: is missing: no pod and no node has metrics "
            "without both cpu and memory\n"
            "f:4:16: resourceRules.window: warning: is missing or 0, expected the range that "
            "the queries look back, such as 5m\n"
            "f:4:25: resourceRules.window: found \"1.5m\", expected a duration such as 5m, "
            "1h30m or 0, largest unit first"}),
    [](const auto& info) { return info.param.name; });

TEST(ErrorsTest, AnchorsDoNotBlowUp) {
  std::string text = "rules:\n- &a0 {seriesFilters: [{is: a}]}\n";
  for (int i = 1; i <= 30; ++i) {
    absl::StrAppend(&text, "- &a", i, " {<<: [*a", i - 1, ", *a", i - 1, "]}\n");
  }
  const CompileResult result = CompileRules(text, "f");
  EXPECT_EQ(result.rules, nullptr);
  EXPECT_FALSE(result.findings.empty());
}

TEST(ErrorsTest, ManyValuesAreRefused) {
  std::string text = "rules: [";
  for (int i = 0; i <= kMaxValues; ++i) text += "a,";
  EXPECT_EQ(Listed(CompileRules(text, "f").findings),
            "f:1:400003: not YAML: it holds over 200000 values");
}

TEST(ErrorsTest, DeepNestingIsRefused) {
  EXPECT_EQ(Listed(CompileRules("rules: " + std::string(100'000, '['), "f").findings),
            "f:1:1007: not YAML: it nests over 1000 levels deep");
}

// libyaml does not know \', and each text that holds it costs a pass over the file.
TEST(ErrorsTest, ApostrophesWithABackslashAreReadInBoundedWork) {
  std::string text = "rules:\n";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&text, "- {seriesQuery: \"{a='\\'\\''}\"}\n");
  Findings none("f");
  const Config config = ReadConfig(text, none);
  EXPECT_FALSE(none.has_errors());
  EXPECT_EQ(config.rules.back().series_query.text, "{a=''''}");
  absl::StrAppend(&text, "#", std::string(2 << 20, ' '), "\n");
  Findings findings("f");
  ReadConfig(text, findings);
  EXPECT_TRUE(findings.has_errors());
}

TEST(ErrorsTest, LargeFilesAreRefused) {
  EXPECT_EQ(Listed(CompileRules(std::string(kMaxFileBytes + 1, ' '), "f").findings),
            "f: the file is larger than 8388608 bytes");
}

TEST(FingerprintTest, TellsFilesApart) {
  const std::string a = CompileRules("rules: []", "f").rules->fingerprint;
  EXPECT_EQ(a.size(), 16u);
  EXPECT_EQ(a, CompileRules("rules: []", "g").rules->fingerprint);
  EXPECT_NE(a, CompileRules("rules: [] ", "f").rules->fingerprint);
}

}  // namespace
}  // namespace flyball::rules
