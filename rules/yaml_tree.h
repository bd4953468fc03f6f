// A rule file's YAML as a tree that keeps what was written: tags, quotes and places.
//
// Pure. The text is read by libyaml, of which the original's yaml.v2 is a translation: both accept
// the same texts, down to what a block scalar keeps and which characters are allowed. Limits:
// kMaxValues nodes, and 1000 levels.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "rules/config.h"

namespace flyball::rules {

struct YamlNode {
  enum class Kind { kScalar, kList, kMap, kAlias };
  Kind kind = Kind::kScalar;
  std::string tag;               // "": none was written
  bool plain = false;            // a scalar without quotes that is no block
  std::string text;              // of a scalar
  std::vector<YamlNode*> items;  // of a list; of a map its keys and values alternately
  YamlNode* anchored = nullptr;  // target of an alias; an alias may be inside of it
  Place place;
};

// The target of an alias; any other node itself.
const YamlNode& Follow(const YamlNode& node);
// The value of a key, with aliases followed. nullptr: it is no mapping, or has no such key.
const YamlNode* ValueOf(const YamlNode* map, absl::string_view key);

struct YamlTree {
  std::deque<YamlNode> nodes;  // owns them
  YamlNode* root = nullptr;    // of the first document; nullptr: there is none
};

// If the text is not YAML, the reason is an error among the findings, and the tree is empty. A
// second document is a warning: only the first is read.
YamlTree ReadYaml(absl::string_view text, Findings& findings);

}  // namespace flyball::rules
