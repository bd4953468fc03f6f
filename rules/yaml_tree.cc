// The only file of this library that uses libyaml.
#include "rules/yaml_tree.h"

#include <yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace flyball::rules {
namespace {

constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Each text in quotes with an escape that libyaml does not know costs one more pass.
constexpr size_t kMostReadAgain = 16 << 20;
// The deeper the brackets nest, the longer libyaml takes for each token within them.
constexpr size_t kMaxDepth = 1000;
constexpr char kIgnored[] = "this document is ignored, only the first is read";

Place PlaceOf(const yaml_mark_t& mark) {
  return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1};
}

std::string Text(const yaml_char_t* text) {
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

// One event of libyaml, which is freed with it.
class Event {
 public:
  Event() = default;
  ~Event() { yaml_event_delete(&event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  bool Read(yaml_parser_t& parser) {
    yaml_event_delete(&event_);
    return yaml_parser_parse(&parser, &event_) != 0;
  }
  const yaml_event_t* operator->() const { return &event_; }

 private:
  yaml_event_t event_ = {};
};

class TreeReader {
 public:
  TreeReader(absl::string_view text, Findings& findings) : text_(text), findings_(findings) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  ~TreeReader() { yaml_parser_delete(&parser_); }
  TreeReader(const TreeReader&) = delete;
  TreeReader& operator=(const TreeReader&) = delete;

  // False: libyaml cannot go on.
  bool Read() {
    while (event_.Read(parser_)) {
      if (event_->type == YAML_STREAM_END_EVENT) return true;
      if (event_->type == YAML_DOCUMENT_END_EVENT) {
        WarnOfMore();
        return true;
      }
      if (!Take() || !IsSmallEnough()) {
        tree_ = {};
        return true;
      }
    }
    return false;
  }

  YamlTree TakeTree() && { return std::move(tree_); }

  void TellProblem() {
    findings_.Error(PlaceOfProblem(), "", absl::StrCat("not YAML: ", Problem()));
  }

  // The offset of the `\'` at which libyaml cannot continue.
  std::optional<size_t> UnknownApostrophe() const {
    if (parser_.error != YAML_SCANNER_ERROR) return std::nullopt;
    size_t at = absl::StartsWith(text_, kByteOrderMark) ? kByteOrderMark.size() : 0;
    for (size_t characters = parser_.problem_mark.index; characters > 0 && at < text_.size();) {
      ++at;
      while (at < text_.size() && (text_[at] & 0xC0) == 0x80) ++at;
      --characters;
    }
    if (!absl::StartsWith(text_.substr(at), "\\'")) return std::nullopt;
    return at;
  }

 private:
  bool Refuse(absl::string_view problem) {
    findings_.Error(PlaceOf(event_->start_mark), "", absl::StrCat("not YAML: ", problem));
    return false;
  }

  // False: an error has been reported.
  bool Take() {
    switch (event_->type) {
      case YAML_DOCUMENT_START_EVENT: {
        const yaml_version_directive_t* version = event_->data.document_start.version_directive;
        if (version != nullptr && (version->major != 1 || version->minor != 1)) {
          return Refuse("only version 1.1 is read");
        }
        break;
      }
      case YAML_SCALAR_EVENT: return TakeScalar();
      case YAML_ALIAS_EVENT: return TakeAlias();
      case YAML_SEQUENCE_START_EVENT: {
        const auto& start = event_->data.sequence_start;
        Open(Add(YamlNode::Kind::kList, start.anchor, start.tag),
             start.style == YAML_FLOW_SEQUENCE_STYLE);
        break;
      }
      case YAML_MAPPING_START_EVENT: {
        const auto& start = event_->data.mapping_start;
        Open(Add(YamlNode::Kind::kMap, start.anchor, start.tag),
             start.style == YAML_FLOW_MAPPING_STYLE);
        break;
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT:
        open_.pop_back();
        if (in_brackets_ > 0) --in_brackets_;
        break;
      default: break;
    }
    return true;
  }

  bool TakeScalar() {
    const auto& scalar = event_->data.scalar;
    YamlNode& node = Add(YamlNode::Kind::kScalar, scalar.anchor, scalar.tag);
    node.plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node.text.assign(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (node.plain && in_brackets_ > 0 && absl::StrContains(node.text, '?')) {
      return Refuse("within brackets a text with ? must stand in quotes");
    }
    return true;
  }

  bool TakeAlias() {
    const std::string name = Text(event_->data.alias.anchor);
    const auto found = anchors_.find(name);
    if (found == anchors_.end()) {
      return Refuse(absl::StrCat("there is no anchor &", name, " above"));
    }
    Add(YamlNode::Kind::kAlias, nullptr, nullptr).anchored = found->second;
    return true;
  }

  bool IsSmallEnough() {
    if (open_.size() > kMaxDepth) {
      return Refuse(absl::StrCat("it nests over ", kMaxDepth, " levels deep"));
    }
    if (tree_.nodes.size() <= static_cast<size_t>(kMaxValues)) return true;
    return Refuse(absl::StrCat("it holds over ", kMaxValues, " values"));
  }

  // Whatever stands within brackets is in brackets itself.
  void Open(YamlNode& node, bool brackets) {
    open_.push_back(&node);
    if (brackets) ++in_brackets_;
  }

  YamlNode& Add(YamlNode::Kind kind, const yaml_char_t* anchor, const yaml_char_t* tag) {
    YamlNode& node = tree_.nodes.emplace_back();
    node.kind = kind;
    node.tag = Text(tag);
    node.place = PlaceOf(event_->start_mark);
    if (open_.empty()) {
      tree_.root = &node;
    } else {
      open_.back()->items.push_back(&node);
    }
    if (anchor != nullptr) anchors_[Text(anchor)] = &node;
    return node;
  }

  void WarnOfMore() {
    if (!event_.Read(parser_)) return findings_.Warn(PlaceOfProblem(), "", kIgnored);
    if (event_->type == YAML_DOCUMENT_START_EVENT) {
      findings_.Warn(PlaceOf(event_->start_mark), "", kIgnored);
    }
  }

  // A character that may not stand in YAML is known by its offset, all else by its mark.
  Place PlaceOfProblem() const {
    if (parser_.error != YAML_READER_ERROR) return PlaceOf(parser_.problem_mark);
    const absl::string_view before = text_.substr(0, parser_.problem_offset);
    const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    return {1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
            1 + static_cast<int>(before.size() - line_start)};
  }

  std::string Problem() const {
    if (parser_.problem == nullptr) return "there is no memory left";
    if (parser_.context == nullptr) return parser_.problem;
    const Place from = PlaceOf(parser_.context_mark), at = PlaceOfProblem();
    const std::string text = absl::StrCat(parser_.problem, " ", parser_.context);
    if (from.line == at.line && from.column == at.column) return text;
    return absl::StrCat(text, " from ", from.line, ":", from.column);
  }

  const absl::string_view text_;
  Findings& findings_;
  yaml_parser_t parser_;
  Event event_;
  YamlTree tree_;
  std::vector<YamlNode*> open_;
  int in_brackets_ = 0;  // how many of them are collections in brackets
  std::map<std::string, YamlNode*> anchors_;
};

// yaml.v2 reads \' in double quotes, libyaml does not: writes ' for each up to the closing quote.
void UnescapeApostrophes(size_t from, std::string& text) {
  for (size_t at = from; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\') continue;
    if (at + 1 < text.size() && text[at + 1] == '\'') {
      text.erase(at, 1);
    } else {
      ++at;
    }
  }
}

}  // namespace

const YamlNode& Follow(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kAlias ? *node.anchored : node;
}

const YamlNode* ValueOf(const YamlNode* map, absl::string_view key) {
  if (map == nullptr || map->kind != YamlNode::Kind::kMap) return nullptr;
  for (size_t i = 0; i + 1 < map->items.size(); i += 2) {
    if (Follow(*map->items[i]).text == key) return &Follow(*map->items[i + 1]);
  }
  return nullptr;
}

YamlTree ReadYaml(absl::string_view text, Findings& findings) {
  std::string mended;
  for (size_t read = text.size();; read += text.size()) {
    TreeReader reader(text, findings);
    if (reader.Read()) return std::move(reader).TakeTree();
    const std::optional<size_t> apostrophe = reader.UnknownApostrophe();
    if (!apostrophe || read > kMostReadAgain) {
      reader.TellProblem();
      return {};
    }
    if (mended.empty()) mended.assign(text.data(), text.size());
    UnescapeApostrophes(*apostrophe, mended);
    text = mended;
  }
}

}  // namespace flyball::rules
