#include "rules/yaml_reader.h"

#include <algorithm>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "base/go/text.h"
#include "base/go/yaml_words.h"

namespace flyball::rules {
namespace {

constexpr char kCoreTag[] = "tag:yaml.org,2002:";

// Whether the text of a scalar stands for a value of some type, not for itself.
bool IsResolved(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && node.plain && node.tag.empty();
}

bool HasCoreTag(const YamlNode& node, absl::string_view name) {
  absl::string_view tag = node.tag;
  return absl::ConsumePrefix(&tag, kCoreTag) && tag == name;
}

bool IsMergeKey(const YamlNode& key) {
  return key.kind == YamlNode::Kind::kScalar && key.text == "<<" &&
         (IsResolved(key) || HasCoreTag(key, "merge"));
}

// The description of a node in messages.
std::string Describe(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::kMap) return "a mapping";
  if (node.kind == YamlNode::Kind::kList) return "a list";
  if (IsNothing(node)) return "nothing";
  return absl::StrCat(node.plain ? "" : "the quoted text ", go::Quote(node.text.substr(0, 60)));
}

// Whether the tag of a number or a time stands before one, as yaml.v2 wants it.
bool FitsTag(const YamlNode& node) {
  using go::YamlType;
  if (node.tag.empty()) return true;
  const YamlType type = go::YamlTypeOf(node.text);
  if (HasCoreTag(node, "int")) return type == YamlType::kInt || type == YamlType::kUint;
  if (HasCoreTag(node, "float")) return type == YamlType::kInt || type == YamlType::kFloat;
  return !HasCoreTag(node, "timestamp") || type == YamlType::kTime;
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

constexpr int kMaxMerges = 20;

}  // namespace

bool IsNothing(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && (IsResolved(node) || HasCoreTag(node, "null")) &&
         (node.text.empty() || go::IsYamlNull(node.text));
}

bool IsCapitalNull(const YamlNode& node) {
  return IsResolved(node) && (node.text == "Null" || node.text == "NULL");
}

std::optional<bool> ReadBool(const YamlNode& node) {
  if (!IsResolved(node) && !HasCoreTag(node, "bool")) return std::nullopt;
  return go::YamlBool(node.text);
}

std::string FieldPath(absl::string_view parent, absl::string_view key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
  if (!plain) return absl::StrCat(parent, "[", go::Quote(key), "]");
  return parent.empty() ? std::string(key) : absl::StrCat(parent, ".", key);
}

void YamlReader::Wrong(const YamlNode& node, const std::string& path, absl::string_view expected) {
  findings_.Error(node.place, path,
                  absl::StrCat("found ", Describe(node), ", expected ", expected));
}

bool YamlReader::Count(const YamlNode& node, const std::string& path) {
  if (++values_ == kMaxValues) {
    findings_.Error(node.place, path,
                    absl::StrCat("anchors expand the file to over ", kMaxValues, " values"));
  }
  return values_ < kMaxValues;
}

// The mapping that counts most is read last. A list of them stands there itself, not behind an
// alias.
void YamlReader::Merge(const YamlNode& value, const std::string& path,
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

std::optional<std::string> YamlReader::TextOf(const YamlNode& node, const std::string& path) {
  if (IsNothing(node)) return "";
  std::optional<std::string> text = ReadText(node);
  if (!text) Wrong(node, path, node.tag.empty() ? "text" : "text that fits its tag");
  return text;
}

void YamlReader::ForEachEntry(
    const YamlNode& map, const std::string& path,
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

void YamlReader::ReadItems(const YamlNode& node, const std::string& path, const ReadField& read) {
  if (IsNothing(node)) return;
  if (node.kind != YamlNode::Kind::kList) return Wrong(node, path, "a list");
  for (size_t i = 0; i < node.items.size() && Count(node, path); ++i) {
    read(Follow(*node.items[i]), absl::StrCat(path, "[", i, "]"));
  }
}

std::string YamlReader::UnknownKey(const std::string& name, const Keys& keys) {
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

void YamlReader::ReadMap(const YamlNode& node, const std::string& path, const Keys& keys) {
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

void YamlReader::Read(const YamlNode& node, const std::string& path, TextField& out) {
  out.place = node.place;
  out.text = TextOf(node, path).value_or("");
}

void YamlReader::Read(const YamlNode& node, const std::string& path, std::optional<bool>& out) {
  out.reset();
  if (IsCapitalNull(node)) out = false;
  if (IsNothing(node)) return;
  out = ReadBool(node);
  if (!out) Wrong(node, path, "true or false, without quotes");
}

void YamlReader::Read(const YamlNode& node, const std::string& path, absl::Duration& out) {
  if (IsNothing(node) && !IsCapitalNull(node)) return void(out = absl::ZeroDuration());
  const auto text = TextOf(node, path);
  if (!text) return;
  const auto duration = ParsePrometheusDuration(*text);
  if (!duration) return Wrong(node, path, "a duration such as 5m, 1h30m or 0, largest unit first");
  out = *duration;
}

}  // namespace flyball::rules
