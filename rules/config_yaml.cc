// From the tree of a rule file to its typed form, as yaml.v2 decodes into the original's structs.
#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rules/config.h"
#include "rules/yaml_reader.h"

namespace flyball::rules {
namespace {

class Reader : private YamlReader {
 public:
  using YamlReader::YamlReader;

  void Read(const YamlNode& node, const std::string& path, Config& out) {
    ReadMap(node, path,
            {{"rules", List(out.rules)},
             {"externalRules", List(out.external_rules)},
             {"resourceRules", [&](const YamlNode& n, const std::string& p) {
                if (IsNothing(n) && !IsCapitalNull(n)) return out.resource_rules.reset();
                if (!out.resource_rules) out.resource_rules.emplace();
                Read(n, p, *out.resource_rules);
              }}});
  }

  // The keys of `path` lead to the chart's values, of which `rules` counts. Whatever else they
  // hold is the chart's business.
  void ReadChart(const YamlNode& values, const std::vector<std::string>& path, Config& out) {
    const YamlNode* chart = &Follow(values);
    std::string field;
    for (const std::string& key : path) {
      field = FieldPath(field, key);
      const YamlNode* const found = ValueOf(chart, key);
      if (found == nullptr)
        return findings_.Error(chart->place, field, "the values have no such key");
      chart = found;
    }
    if (chart->kind == YamlNode::Kind::kList) return List(out.rules)(*chart, out.rules_field);
    field = FieldPath(field, "rules");
    const YamlNode* const rules = ValueOf(chart, "rules");
    if (rules == nullptr) return;
    out.rules_field = FieldPath(field, "custom");
    out.external_field = FieldPath(field, "external");
    out.resource_field = FieldPath(field, "resource");
    if (const YamlNode* list = ValueOf(rules, "custom")) List(out.rules)(*list, out.rules_field);
    if (const YamlNode* list = ValueOf(rules, "external")) {
      List(out.external_rules)(*list, out.external_field);
    }
    // The chart of prometheus-adapter has an empty mapping by default.
    const YamlNode* const resource = ValueOf(rules, "resource");
    if (resource == nullptr || resource->items.empty()) return;
    Read(*resource, out.resource_field, out.resource_rules.emplace());
  }

 private:
  using YamlReader::Read;

  // A reader of one field into `out`.
  template <typename T>
  ReadField Into(T& out) {
    return [this, &out](const YamlNode& n, const std::string& p) { Read(n, p, out); };
  }
  // A list replaces what was there.
  template <typename T>
  ReadField List(std::vector<T>& out) {
    return [this, &out](const YamlNode& n, const std::string& p) {
      out.clear();
      ReadItems(n, p, [this, &out](const YamlNode& item, const std::string& path) {
        Read(item, path, out.emplace_back());
      });
    };
  }

  // Reads a struct by its keys. A null value resets it.
  template <typename T>
  void Read(const YamlNode& node, const std::string& path, T& out) {
    if (IsNothing(node)) out = {};
    if constexpr (requires { out.place; }) out.place = node.place;
    ReadMap(node, path, KeysOf(out));
  }

  Keys KeysOf(FilterConfig& out) { return {{"is", Into(out.is)}, {"isNot", Into(out.is_not)}}; }

  Keys KeysOf(NameConfig& out) { return {{"matches", Into(out.matches)}, {"as", Into(out.as)}}; }

  Keys KeysOf(MappingConfig& out) {
    return {{"template", Into(out.label_template)},
            {"overrides", Into(out.overrides)},
            {"namespaced", Into(out.namespaced)}};
  }

  Keys KeysOf(RuleConfig& out) {
    return {{"seriesQuery", Into(out.series_query)},
            {"seriesFilters", List(out.filters)},
            {"resources", Into(out.resources)},
            {"name", Into(out.name)},
            {"metricsQuery", Into(out.metrics_query)},
            {"source", Into(out.source)},
            {"onFailure", [this, &out](const YamlNode& n, const std::string& p) {
               if (IsNothing(n)) return out.on_failure.reset();
               Read(n, p, out.on_failure.emplace());
             }}};
  }

  Keys KeysOf(OnFailureConfig& out) {
    return {{"keepLast", Into(out.keep_last)}, {"then", Into(out.then)}};
  }

  Keys KeysOf(OnFailureConfig::Then& out) {
    return {{"value", Into(out.value)}, {"replicas", Into(out.replicas)}};
  }

  // A word, or a map.
  void Read(const YamlNode& node, const std::string& path, OnFailureConfig::Then& out) {
    out = {};
    out.place = node.place;
    if (Follow(node).kind == YamlNode::Kind::kMap) return ReadMap(node, path, KeysOf(out));
    Read(node, path, out.word);
  }

  Keys KeysOf(ResourceRuleConfig& out) {
    return {{"containerQuery", Into(out.container_query)},
            {"nodeQuery", Into(out.node_query)},
            {"resources", Into(out.resources)},
            {"containerLabel", Into(out.container_label)},
            {"source", Into(out.source)}};
  }

  Keys KeysOf(ResourceRulesConfig& out) {
    return {{"cpu", Into(out.cpu)}, {"memory", Into(out.memory)}, {"window", Into(out.window)}};
  }

  // Labels are keys of the user's: merged ones count as given.
  void Read(const YamlNode& node, const std::string& path, std::vector<OverrideConfig>& out) {
    if (IsNothing(node)) return out.clear();
    if (node.kind != YamlNode::Kind::kMap) {
      return Wrong(node, path, "a mapping from label names to resources");
    }
    ForEachEntry(
        node, path, [&](const YamlNode& merged) { Read(merged, path, out); },
        [&](const YamlNode& key, const YamlNode& value) { ReadOverride(key, value, path, out); });
  }

  void ReadOverride(const YamlNode& key, const YamlNode& value, const std::string& path,
                    std::vector<OverrideConfig>& out) {
    const auto label = TextOf(key, path);
    if (!label) return;
    const std::string field = FieldPath(path, *label);
    if (std::any_of(out.begin(), out.end(),
                    [&](const OverrideConfig& o) { return o.label.text == *label; })) {
      return findings_.Error(key.place, field, "the label is given twice, expected it once");
    }
    OverrideConfig item;
    item.label = {*label, key.place};
    ReadMap(value, field, {{"group", Into(item.group)}, {"resource", Into(item.resource)}});
    out.push_back(std::move(item));
  }
};

YamlTree ReadTree(absl::string_view text, Findings& findings) {
  if (text.size() <= kMaxFileBytes) return ReadYaml(text, findings);
  findings.Error({}, "", absl::StrCat("the file is larger than ", kMaxFileBytes, " bytes"));
  return {};
}

}  // namespace

Config ReadConfig(absl::string_view text, Findings& findings) {
  Config config;
  const YamlTree tree = ReadTree(text, findings);
  if (tree.root != nullptr) Reader(findings).Read(*tree.root, "", config);
  return config;
}

Config ReadChartValues(absl::string_view text, const std::vector<std::string>& path,
                       Findings& findings) {
  Config config;
  const YamlTree tree = ReadTree(text, findings);
  if (tree.root != nullptr) Reader(findings).ReadChart(*tree.root, path, config);
  return config;
}

}  // namespace flyball::rules
