// The tree of a rule file -> its typed form, as yaml.v2 decodes into the original's structs.
#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include <re2/re2.h>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/go/text.h"
#include "rules/config.h"
#include "rules/yaml_tree.h"

namespace flyball::rules {
namespace {

using re2::LazyRE2;
using re2::RE2;

constexpr char kCoreTag[] = "tag:yaml.org,2002:";

template <typename... Words>
bool IsOneOf(absl::string_view text, Words... words) {
  return ((text == words) || ...);
}

// Whether the text of a scalar stands for a value of some type, not for itself.
bool IsResolved(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && node.plain && node.tag.empty();
}

bool HasCoreTag(const YamlNode& node, absl::string_view name) {
  absl::string_view tag = node.tag;
  return absl::ConsumePrefix(&tag, kCoreTag) && tag == name;
}

bool IsNothing(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && (IsResolved(node) || HasCoreTag(node, "null")) &&
         IsOneOf(node.text, "", "~", "null", "Null", "NULL");
}

// To the original Null and NULL are null, but they set a pointer: to false, or to an empty
// resourceRules.
bool IsCapitalNull(const YamlNode& node) {
  return IsResolved(node) && IsOneOf(node.text, "Null", "NULL");
}

bool IsMergeKey(const YamlNode& key) {
  return key.kind == YamlNode::Kind::kScalar && key.text == "<<" &&
         (IsResolved(key) || HasCoreTag(key, "merge"));
}

// How a message names what stands there.
std::string Describe(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kMap) return "a mapping";
  if (node.kind == YamlNode::Kind::kList) return "a list";
  if (IsNothing(node)) return "nothing";
  return absl::StrCat(node.plain ? "" : "the quoted text ", go::Quote(node.text.substr(0, 60)));
}

// YAML 1.1, as yaml.v2 resolves plain scalars.
std::optional<bool> ReadBool(const YamlNode& node) {
  if (!IsResolved(node) && !HasCoreTag(node, "bool")) return std::nullopt;
  const std::string& text = node.text;
  if (IsOneOf(text, "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")) {
    return true;
  }
  if (IsOneOf(text, "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")) {
    return false;
  }
  return std::nullopt;
}

// Whether the tag of a number or a time stands before one, as yaml.v2 wants it.
bool FitsTag(const YamlNode& node) {
  static const LazyRE2 kInt = {"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)"};
  static const LazyRE2 kFloat = {
      "[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\\.(inf|Inf|INF)|\\.(nan|NaN|"
      "NAN)"};
  static const LazyRE2 kTime = {
      "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(\\.[0-9]+)?"
      "(Z|[-+][0-9]{2}:[0-9]{2})?)?"};
  const std::string number = absl::StrReplaceAll(node.text, {{"_", ""}});
  const bool is_int = RE2::FullMatch(number, *kInt);
  if (HasCoreTag(node, "int")) return is_int;
  if (HasCoreTag(node, "float")) return is_int || RE2::FullMatch(number, *kFloat);
  return !HasCoreTag(node, "timestamp") || RE2::FullMatch(node.text, *kTime);
}

// The text of a scalar, unless its tag wants something else there.
std::optional<std::string> ReadText(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar || HasCoreTag(node, "null") || !FitsTag(node)) {
    return std::nullopt;
  }
  if (HasCoreTag(node, "bool") && !ReadBool(node)) return std::nullopt;
  if (!HasCoreTag(node, "binary")) return node.text;
  const std::string base64 = absl::StrReplaceAll(node.text, {{"\n", ""}, {"\r", ""}});
  std::string bytes;
  if (base64.size() % 4 != 0 || base64.find_first_of(" \t") != std::string::npos ||
      !absl::Base64Unescape(base64, &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

std::string FieldPath(absl::string_view parent, absl::string_view key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
  if (!plain) return absl::StrCat(parent, "[", go::Quote(key), "]");
  return parent.empty() ? std::string(key) : absl::StrCat(parent, ".", key);
}

class Reader {
 public:
  explicit Reader(Findings& findings) : findings_(findings) {}

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

 private:
  using ReadField = std::function<void(const YamlNode&, const std::string& path)>;
  struct Key {
    absl::string_view name;
    ReadField read;
  };
  using Keys = std::vector<Key>;

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
      if (IsNothing(n)) return;
      if (n.kind != YamlNode::Kind::kList) return Wrong(n, p, "a list");
      for (size_t i = 0; i < n.items.size() && Count(n, p); ++i) {
        Read(Follow(*n.items[i]), absl::StrCat(p, "[", i, "]"), out.emplace_back());
      }
    };
  }

  void Wrong(const YamlNode& node, const std::string& path, absl::string_view expected) {
    findings_.Error(node.place, path,
                    absl::StrCat("found ", Describe(node), ", expected ", expected));
  }

  // False once the file has grown too large through its anchors.
  bool Count(const YamlNode& node, const std::string& path) {
    if (++values_ == kMaxValues) {
      findings_.Error(node.place, path,
                      absl::StrCat("anchors expand the file to over ", kMaxValues, " values"));
    }
    return values_ < kMaxValues;
  }

  static const YamlNode& Follow(const YamlNode& node) {
    return node.kind == YamlNode::Kind::kAlias ? *node.anchored : node;
  }

  // Calls `read` for each mapping that `<<:` names, the one that counts most last. A list of them
  // stands there itself, not behind an alias.
  void Merge(const YamlNode& value, const std::string& path,
             const std::function<void(const YamlNode&)>& read) {
    if (++merges_ > kMaxMerges) {
      findings_.Error(value.place, path, "<< merges a mapping into itself, or too deeply");
    } else if (Follow(value).kind == YamlNode::Kind::kMap) {
      read(Follow(value));
    } else if (value.kind == YamlNode::Kind::kList) {
      for (size_t i = value.items.size(); i-- > 0;) {
        const YamlNode& item = Follow(*value.items[i]);
        if (item.kind == YamlNode::Kind::kMap) {
          read(item);
        } else {
          Wrong(item, path, "a mapping to merge with <<");
        }
      }
    } else {
      Wrong(Follow(value), path, "a mapping, or a list of mappings, to merge with <<");
    }
    --merges_;
  }

  // nullopt: what is wrong with it has been told.
  std::optional<std::string> TextOf(const YamlNode& node, const std::string& path) {
    if (IsNothing(node)) return "";
    std::optional<std::string> text = ReadText(node);
    if (!text) Wrong(node, path, node.tag.empty() ? "text" : "text that fits its tag");
    return text;
  }

  // Calls `on_entry(key, value)` for each that is no merge.
  void ForEachEntry(const YamlNode& map, const std::string& path,
                    const std::function<void(const YamlNode&)>& on_merged,
                    const std::function<void(const YamlNode&, const YamlNode&)>& on_entry) {
    for (size_t i = 0; i + 1 < map.items.size() && Count(map, path); i += 2) {
      const YamlNode& key = Follow(*map.items[i]);
      if (IsMergeKey(*map.items[i])) {
        Merge(*map.items[i + 1], path, on_merged);
      } else {
        on_entry(key, Follow(*map.items[i + 1]));
      }
    }
  }

  void ReadMap(const YamlNode& node, const std::string& path, const Keys& keys) {
    if (IsNothing(node)) return;
    if (node.kind != YamlNode::Kind::kMap) return Wrong(node, path, "a mapping");
    std::set<std::string> seen;
    ForEachEntry(
        node, path, [&](const YamlNode& merged) { ReadMap(merged, path, keys); },
        [&](const YamlNode& key, const YamlNode& value) {
          const auto name = TextOf(key, path);
          if (!name) return;
          const std::string field = FieldPath(path, *name);
          const auto known =
              std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == *name; });
          if (known == keys.end()) {
            findings_.Error(key.place, field, UnknownKey(*name, keys));
          } else if (!seen.insert(*name).second) {
            findings_.Error(key.place, field, "the key is given twice, expected it once");
          } else {
            known->read(value, field);
          }
        });
  }

  static std::string UnknownKey(const std::string& name, const Keys& keys) {
    std::string message = "unknown key, expected ";
    for (const Key& key : keys) {
      if (absl::EqualsIgnoreCase(key.name, name)) {
        return absl::StrCat("unknown key, expected ", key.name, " (keys are case-sensitive)");
      }
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      absl::StrAppend(&message, i == 0 ? "" : i + 1 == keys.size() ? " or " : ", ", keys[i].name);
    }
    return message;
  }

  void Read(const YamlNode& node, const std::string& path, TextField& out) {
    out.place = node.place;
    out.text = TextOf(node, path).value_or("");
  }

  void Read(const YamlNode& node, const std::string& path, std::optional<bool>& out) {
    out.reset();
    if (IsCapitalNull(node)) out = false;
    if (IsNothing(node)) return;
    out = ReadBool(node);
    if (!out) Wrong(node, path, "true or false, without quotes");
  }

  void Read(const YamlNode& node, const std::string& path, absl::Duration& out) {
    if (IsNothing(node)) return void(out = absl::ZeroDuration());
    const auto text = TextOf(node, path);
    if (!text) return;
    const auto duration = ParsePrometheusDuration(*text);
    if (!duration)
      return Wrong(node, path, "a duration such as 5m, 1h30m or 0, largest unit first");
    out = *duration;
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
            {"metricsQuery", Into(out.metrics_query)}};
  }

  Keys KeysOf(ResourceRuleConfig& out) {
    return {{"containerQuery", Into(out.container_query)},
            {"nodeQuery", Into(out.node_query)},
            {"resources", Into(out.resources)},
            {"containerLabel", Into(out.container_label)}};
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

  static constexpr int kMaxMerges = 20;

  Findings& findings_;
  int values_ = 0;
  int merges_ = 0;
};

}  // namespace

Config ReadConfig(absl::string_view text, Findings& findings) {
  Config config;
  if (text.size() > kMaxFileBytes) {
    findings.Error({}, "", absl::StrCat("the file is larger than ", kMaxFileBytes, " bytes"));
    return config;
  }
  const YamlTree tree = ReadYaml(text, findings);
  if (tree.root != nullptr) Reader(findings).Read(*tree.root, "", config);
  return config;
}

}  // namespace flyball::rules
