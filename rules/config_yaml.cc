// The only file that meets yaml-cpp. Its exceptions end here.
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "rules/config.h"
#include "rules/go_text.h"

namespace flyball::rules {
namespace {

Place PlaceOf(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}
Place PlaceOf(const YAML::Node& node) { return PlaceOf(node.Mark()); }

bool IsNothing(const YAML::Node& node) {
  return node.IsNull() || (node.IsScalar() && node.Tag() == "tag:yaml.org,2002:null");
}

// How a message names what stands there.
std::string Describe(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (IsNothing(node)) return "nothing";
  const std::string& text = node.Scalar();
  return absl::StrCat(node.Tag() == "!" ? "the quoted text " : "", QuoteGo(text.substr(0, 60)));
}

template <typename... Words>
bool IsOneOf(absl::string_view text, Words... words) {
  return ((text == words) || ...);
}

// YAML 1.1, as yaml.v2 resolves plain scalars.
std::optional<bool> ReadBool(const YAML::Node& node) {
  if (!node.IsScalar()) return std::nullopt;
  if (node.Tag() != "?" && node.Tag() != "tag:yaml.org,2002:bool") return std::nullopt;
  const std::string& text = node.Scalar();
  if (IsOneOf(text, "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")) {
    return true;
  }
  if (IsOneOf(text, "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")) {
    return false;
  }
  return std::nullopt;
}

std::string FieldPath(absl::string_view parent, absl::string_view key) {
  const bool plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return c == '_' || c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
  if (!plain) return absl::StrCat(parent, "[", QuoteGo(key), "]");
  return parent.empty() ? std::string(key) : absl::StrCat(parent, ".", key);
}

class Reader {
 public:
  Reader(absl::string_view text, Findings& findings) : text_(text), findings_(findings) {}

  void Read(const YAML::Node& node, const std::string& path, Config& out) {
    ReadMap(node, path,
            {{"rules", List(out.rules)},
             {"externalRules", List(out.external_rules)},
             {"resourceRules", [&](const YAML::Node& n, const std::string& p) {
                if (IsNothing(n) && !IsCapitalNull(n)) return out.resource_rules.reset();
                if (!out.resource_rules) out.resource_rules.emplace();
                Read(n, p, *out.resource_rules);
              }}});
  }

 private:
  using ReadField = std::function<void(const YAML::Node&, const std::string& path)>;
  struct Key {
    absl::string_view name;
    ReadField read;
  };
  using Keys = std::vector<Key>;

  // A reader of one field into `out`.
  template <typename T>
  ReadField Into(T& out) {
    return [this, &out](const YAML::Node& n, const std::string& p) { Read(n, p, out); };
  }
  // A list replaces what was there.
  template <typename T>
  ReadField List(std::vector<T>& out) {
    return [this, &out](const YAML::Node& n, const std::string& p) {
      out.clear();
      if (IsNothing(n)) return;
      if (!n.IsSequence()) return Wrong(n, p, "a list");
      for (size_t i = 0; i < n.size() && Count(n, p); ++i) {
        T& item = out.emplace_back();
        Read(n[i], absl::StrCat(p, "[", i, "]"), item);
        item.place = PlaceOf(n[i]);
      }
    };
  }

  void Wrong(const YAML::Node& node, const std::string& path, absl::string_view expected) {
    findings_.Error(PlaceOf(node), path,
                    absl::StrCat("found ", Describe(node), ", expected ", expected));
  }

  // False once the file has grown too large through its anchors.
  bool Count(const YAML::Node& node, const std::string& path) {
    if (++values_ == kMaxValues) {
      findings_.Error(PlaceOf(node), path,
                      absl::StrCat("anchors expand the file to over ", kMaxValues, " values"));
    }
    return values_ < kMaxValues;
  }

  absl::string_view TextAt(const YAML::Node& node) const {
    const int at = node.Mark().pos;
    return at < 0 ? "" : text_.substr(std::min(static_cast<size_t>(at), text_.size()));
  }
  // To the original Null and NULL are null, but they set a pointer: to false, or to an empty
  // resourceRules.
  bool IsCapitalNull(const YAML::Node& node) const {
    const absl::string_view text = TextAt(node);
    return node.IsNull() && (absl::StartsWith(text, "Null") || absl::StartsWith(text, "NULL"));
  }

  static bool IsMergeKey(const YAML::Node& key) {
    return key.IsScalar() && key.Scalar() == "<<" &&
           (key.Tag() == "?" || key.Tag() == "tag:yaml.org,2002:merge");
  }

  // Calls `read` for each mapping that `<<:` names, the one that counts most last.
  void Merge(const YAML::Node& value, const std::string& path,
             const std::function<void(const YAML::Node&)>& read) {
    if (++merges_ > kMaxMerges) {
      findings_.Error(PlaceOf(value), path, "<< merges a mapping into itself, or too deeply");
    } else if (value.IsMap()) {
      read(value);
    } else if (value.IsSequence()) {
      for (size_t i = value.size(); i-- > 0;) {
        if (value[i].IsMap()) {
          read(value[i]);
        } else {
          Wrong(value[i], path, "a mapping to merge with <<");
        }
      }
    } else {
      Wrong(value, path, "a mapping, or a list of mappings, to merge with <<");
    }
    --merges_;
  }

  std::optional<std::string> ReadKey(const YAML::Node& key, const std::string& path) {
    TextField field;
    if (IsNothing(key) && absl::StartsWith(TextAt(key), ":")) {
      Wrong(key, path, "a key");
      return std::nullopt;
    }
    if (IsNothing(key)) return "";
    Read(key, path, field);
    if (!key.IsScalar()) return std::nullopt;
    return field.text;
  }

  void ReadMap(const YAML::Node& node, const std::string& path, const Keys& keys) {
    if (IsNothing(node)) return;
    if (!node.IsMap()) return Wrong(node, path, "a mapping");
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!Count(entry.first, path)) return;
      if (IsMergeKey(entry.first)) {
        Merge(entry.second, path, [&](const YAML::Node& merged) { ReadMap(merged, path, keys); });
        continue;
      }
      const auto name = ReadKey(entry.first, path);
      if (!name) continue;
      const std::string field = FieldPath(path, *name);
      const auto key =
          std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == *name; });
      if (key == keys.end()) {
        findings_.Error(PlaceOf(entry.first), field, UnknownKey(*name, keys));
      } else if (!seen.insert(*name).second) {
        findings_.Error(PlaceOf(entry.first), field, "the key is given twice, expected it once");
      } else {
        key->read(entry.second, field);
      }
    }
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

  void Read(const YAML::Node& node, const std::string& path, TextField& out) {
    out.place = PlaceOf(node);
    out.text.clear();
    if (IsNothing(node)) return;
    if (!node.IsScalar()) return Wrong(node, path, "text");
    out.text = node.Scalar();
    if (node.Tag() == "tag:yaml.org,2002:binary" &&
        !absl::Base64Unescape(node.Scalar(), &out.text)) {
      Wrong(node, path, "base64 for !!binary");
    }
  }

  void Read(const YAML::Node& node, const std::string& path, std::optional<bool>& out) {
    out.reset();
    if (IsCapitalNull(node)) out = false;
    if (IsNothing(node)) return;
    out = ReadBool(node);
    if (!out) Wrong(node, path, "true or false, without quotes");
  }

  void Read(const YAML::Node& node, const std::string& path, absl::Duration& out) {
    if (IsNothing(node)) return void(out = absl::ZeroDuration());
    TextField field;
    Read(node, path, field);
    if (!node.IsScalar()) return;
    const auto duration = ParsePrometheusDuration(field.text);
    if (!duration)
      return Wrong(node, path, "a duration such as 5m, 1h30m or 0, largest unit first");
    out = *duration;
  }

  void Read(const YAML::Node& node, const std::string& path, FilterConfig& out) {
    if (IsNothing(node)) out = {};
    ReadMap(node, path, {{"is", Into(out.is)}, {"isNot", Into(out.is_not)}});
  }

  void Read(const YAML::Node& node, const std::string& path, NameConfig& out) {
    if (IsNothing(node)) out = {};
    ReadMap(node, path, {{"matches", Into(out.matches)}, {"as", Into(out.as)}});
  }

  void Read(const YAML::Node& node, const std::string& path, MappingConfig& out) {
    if (IsNothing(node)) out = {};
    out.place = PlaceOf(node);
    ReadMap(node, path,
            {{"template", Into(out.label_template)},
             {"overrides", Into(out.overrides)},
             {"namespaced", Into(out.namespaced)}});
  }

  // Labels are keys of the user's: merged ones count as given.
  void Read(const YAML::Node& node, const std::string& path, std::vector<OverrideConfig>& out) {
    if (IsNothing(node)) return out.clear();
    if (!node.IsMap()) return Wrong(node, path, "a mapping from label names to resources");
    for (const auto& entry : node) {
      if (!Count(entry.first, path)) return;
      if (IsMergeKey(entry.first)) {
        Merge(entry.second, path, [&](const YAML::Node& merged) { Read(merged, path, out); });
        continue;
      }
      const auto label = ReadKey(entry.first, path);
      if (!label) continue;
      const std::string field = FieldPath(path, *label);
      if (std::any_of(out.begin(), out.end(),
                      [&](const OverrideConfig& o) { return o.label.text == *label; })) {
        findings_.Error(PlaceOf(entry.first), field, "the label is given twice, expected it once");
        continue;
      }
      OverrideConfig item;
      item.label = {*label, PlaceOf(entry.first)};
      ReadMap(entry.second, field,
              {{"group", Into(item.group)}, {"resource", Into(item.resource)}});
      out.push_back(std::move(item));
    }
  }

  void Read(const YAML::Node& node, const std::string& path, RuleConfig& out) {
    if (IsNothing(node)) out = {};
    ReadMap(node, path,
            {{"seriesQuery", Into(out.series_query)},
             {"seriesFilters", List(out.filters)},
             {"resources", Into(out.resources)},
             {"name", Into(out.name)},
             {"metricsQuery", Into(out.metrics_query)}});
  }

  void Read(const YAML::Node& node, const std::string& path, ResourceRuleConfig& out) {
    if (IsNothing(node)) out = {};
    out.place = PlaceOf(node);
    ReadMap(node, path,
            {{"containerQuery", Into(out.container_query)},
             {"nodeQuery", Into(out.node_query)},
             {"resources", Into(out.resources)},
             {"containerLabel", Into(out.container_label)}});
  }

  void Read(const YAML::Node& node, const std::string& path, ResourceRulesConfig& out) {
    if (IsNothing(node)) out = {};
    out.place = PlaceOf(node);
    ReadMap(node, path,
            {{"cpu", Into(out.cpu)}, {"memory", Into(out.memory)}, {"window", Into(out.window)}});
  }

  static constexpr int kMaxMerges = 20;

  const absl::string_view text_;
  Findings& findings_;
  int values_ = 0;
  int merges_ = 0;
};

// yaml-cpp is laxer than yaml.v2 in two things: it ends a document where it can't go on, and closes
// an open quote at the end of the file. This listens to its events for both.
class Listener final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string&) override {
    if (tag == "!") last_quoted_ = mark;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value style) override {
    Enter(mark, style);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value style) override {
    Enter(mark, style);
  }
  void OnMapEnd() override {}

  const YAML::Mark& start() const { return start_; }
  const YAML::Mark& last_quoted() const { return last_quoted_; }
  // The outermost collection: where it starts, and whether it is one in brackets.
  const YAML::Mark& root() const { return root_; }
  bool has_brackets() const { return has_brackets_; }

 private:
  void Enter(const YAML::Mark& mark, YAML::EmitterStyle::value style) {
    if (!root_.is_null()) return;
    root_ = mark;
    has_brackets_ = style == YAML::EmitterStyle::Flow;
  }

  YAML::Mark start_, last_quoted_ = YAML::Mark::null_mark(), root_ = YAML::Mark::null_mark();
  bool has_brackets_ = false;
};

// True if the text opens with a quote, not a block's | or >, that is never closed.
bool IsOpenQuote(absl::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return false;
  const char quote = text[0];
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 >= text.size() || text[i + 1] != quote) return false;
      ++i;  // '' stands for one quote
    }
  }
  return true;
}

// True if a line starts or ends a document.
bool HasDocumentMarker(absl::string_view text) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "---") || absl::StartsWith(line, "...")) return true;
  }
  return false;
}

constexpr char kIgnored[] = "this document is ignored, only the first is read";

void WarnOfMoreDocuments(YAML::Parser& parser, Findings& findings) {
  try {
    Listener listener;
    if (!parser.HandleNextDocument(listener)) return;
    findings.Warn(PlaceOf(listener.start()), "", kIgnored);
  } catch (const YAML::Exception& e) {
    findings.Warn(PlaceOf(e.mark), "", kIgnored);
  }
}

void FindWhatTheParserSkips(const std::string& text, Findings& findings) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  Listener listener;
  if (!parser.HandleNextDocument(listener)) return;
  const YAML::Mark quoted = listener.last_quoted();
  if (!quoted.is_null() && IsOpenQuote(absl::string_view(text).substr(quoted.pos))) {
    findings.Error(PlaceOf(quoted), "", "not YAML: this quote is never closed");
  }
  // yaml.v2 looks no further than the bracket that closes the file's first collection.
  if (HasDocumentMarker(text) || listener.has_brackets()) {
    return WarnOfMoreDocuments(parser, findings);
  }
  Listener rest;
  if (!parser.HandleNextDocument(rest)) return;
  if (rest.start().column < listener.root().column) {  // nor than where its indentation ends
    findings.Warn(PlaceOf(rest.start()), "", kIgnored);
  } else {
    findings.Error(PlaceOf(rest.start()), "",
                   "not YAML: this does not belong to what stands above it; expected the same kind "
                   "of item at that indentation");
  }
}

}  // namespace

Config ReadConfig(absl::string_view text, Findings& findings) {
  Config config;
  if (text.size() > kMaxFileBytes) {
    findings.Error({}, "", absl::StrCat("the file is larger than ", kMaxFileBytes, " bytes"));
    return config;
  }
  try {
    const std::string copy(text);
    FindWhatTheParserSkips(copy, findings);
    Reader(text, findings).Read(YAML::Load(copy), "", config);
  } catch (const YAML::Exception& e) {
    findings.Error(PlaceOf(e.mark), "", absl::StrCat("not YAML: ", e.msg));
  }
  return config;
}

}  // namespace flyball::rules
