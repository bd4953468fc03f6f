#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <variant>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/go/number.h"
#include "base/go/text.h"
#include "base/go/yaml_words.h"
#include "scaler/spec/document.h"

namespace flyball::scaler {
namespace {

bool IsOneOf(absl::string_view text, std::initializer_list<absl::string_view> words) {
  for (const absl::string_view word : words) {
    if (text == word) return true;
  }
  return false;
}

// A float as Go's encoding/json writes it: shortest digits, an exponent below 1e-6 and from 1e21.
std::string GoJsonFloat(double number) {
  char digits[64];
  const double size = std::fabs(number);
  const auto format = size != 0 && (size < 1e-6 || size >= 1e21) ? std::chars_format::scientific
                                                                 : std::chars_format::fixed;
  const auto end = std::to_chars(digits, digits + sizeof digits, number, format).ptr;
  std::string text(digits, end);
  // e-09 becomes e-9.
  if (const size_t at = text.find("e-0"); at != std::string::npos) text.erase(at + 2, 1);
  return text;
}

// What a plain (unquoted) scalar means, as JSON.
void Resolve(absl::string_view text, Node& to) {
  to.kind = Node::Kind::kString;
  to.text = std::string(text);
  switch (go::YamlTypeOf(text)) {
    case go::YamlType::kNull: to.kind = Node::Kind::kNull; break;
    case go::YamlType::kBool:
      to.kind = Node::Kind::kBool;
      to.boolean = *go::YamlBool(text);
      break;
    case go::YamlType::kInt:
    case go::YamlType::kUint: {
      const go::Number number = *go::YamlInt(text);
      const int64_t value = std::get<int64_t>(number.value);
      to.kind = Node::Kind::kNumber;
      to.text =
          number.overflows_int ? absl::StrCat(static_cast<uint64_t>(value)) : absl::StrCat(value);
      break;
    }
    case go::YamlType::kFloat:
      to.kind = Node::Kind::kNumber;
      to.text = GoJsonFloat(*go::ParseFloat(absl::StrReplaceAll(text, {{"_", ""}})));
      break;
    case go::YamlType::kTime:
    case go::YamlType::kText: break;
  }
}

// Thrown through yaml-cpp and caught below, never out of this file.
struct Refused {
  std::string message;
};

// Builds Nodes from the parser's events.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(const ParseLimits& limits) : limits_(limits) {}

  // The document that was read last.
  Node Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // A stray `,` or `}` between documents would be reported as an empty document again and again.
    if (mark.pos == start_) Refuse(mark, "expected a new document");
    start_ = mark.pos;
    root_ = Node{};
    anchors_.clear();
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Add(mark, anchor, Make(mark));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end()) Refuse(mark, "an alias inside the value that it names");
    CountCopy(mark, known->second);
    Add(mark, 0, known->second);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    Node node = Make(mark);
    const bool typed = IsOneOf(tag, {"tag:yaml.org,2002:int", "tag:yaml.org,2002:float",
                                     "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"});
    if (tag.empty() || tag == "?" || typed) {
      if (go::IsYamlSpecialNumber(text)) {
        Refuse(mark, absl::StrCat(text, " has no form in JSON"));
      }
      Resolve(text, node);
    } else {
      node.kind = Node::Kind::kString;
      node.text = text;
    }
    // As JSON would write it.
    node.escaped = std::any_of(text.begin(), text.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || absl::StrContains("\"\\<>&", c);
    });
    Add(mark, anchor, std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(mark, anchor, Node::Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(mark, anchor, Node::Kind::kMap);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  // A list or map that is not complete yet.
  struct Frame {
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    Node node;
    std::optional<std::string> key;                   // map: waits for its value
    absl::flat_hash_map<std::string, size_t> places;  // map: of each key in node.members
    std::vector<Node> merged;                         // map: values of `<<`
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, absl::string_view what) {
    throw Refused{absl::StrCat("line ", mark.line + 1, ": ", what)};
  }

  struct Size {
    size_t nodes = 0;
    size_t bytes = 0;
  };
  static void AddSize(const Node& node, Size& size) {
    ++size.nodes;
    size.bytes += node.text.size();
    for (const Node& item : node.items) AddSize(item, size);
    for (const auto& [key, value] : node.members) {
      size.bytes += key.size();
      AddSize(value, size);
    }
  }

  void Count(const YAML::Mark& mark, size_t nodes) {
    nodes_ += nodes;
    if (nodes_ > limits_.max_nodes) Refuse(mark, "too many values");
  }

  // A copy takes memory that the text's own length does not bound.
  void CountCopy(const YAML::Mark& mark, const Node& node) {
    Size size;
    AddSize(node, size);
    Count(mark, size.nodes);
    copied_bytes_ += size.bytes;
    if (copied_bytes_ > limits_.max_bytes) Refuse(mark, "aliases repeat too much text");
  }

  Node Make(const YAML::Mark& mark) {
    Count(mark, 1);
    Node node;
    node.line = mark.line + 1;
    return node;
  }

  void Open(const YAML::Mark& mark, YAML::anchor_t anchor, Node::Kind kind) {
    if (frames_.size() >= kMaxDocumentDepth) Refuse(mark, "nested too deeply");
    Frame& frame = frames_.emplace_back();
    frame.mark = mark;
    frame.anchor = anchor;
    frame.node = Make(mark);
    frame.node.kind = kind;
  }

  void Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    for (Node& source : frame.merged) Merge(frame, source);
    Add(frame.mark, frame.anchor, std::move(frame.node));
  }

  void Add(const YAML::Mark& mark, YAML::anchor_t anchor, Node node) {
    if (anchor != 0) {
      CountCopy(mark, node);
      anchors_[anchor] = node;
    }
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.is_list()) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.key.has_value()) {
      if (node.is_null() || node.is_list() || node.is_map()) Refuse(mark, "a key must be a string");
      if (node.kind == Node::Kind::kBool) node.text = node.boolean ? "true" : "false";
      frame.key = std::move(node.text);
    } else {
      const std::string key = *std::move(frame.key);
      frame.key.reset();
      if (key == "<<") {
        frame.merged.push_back(std::move(node));
      } else {
        Put(frame, key, std::move(node));
      }
    }
  }

  // Of a repeated key the last one stays.
  static void Put(Frame& frame, const std::string& key, Node node) {
    const auto [place, added] = frame.places.try_emplace(key, frame.node.members.size());
    if (added) frame.node.members.push_back({key, Node{}});
    frame.node.members[place->second].value = std::move(node);
  }

  // `<<: *defaults`: what the map itself does not state.
  static void Merge(Frame& frame, Node& source) {
    std::vector<Node> maps;
    if (source.is_map()) {
      maps.push_back(std::move(source));
    } else {
      maps = std::move(source.items);
    }
    for (Node& map : maps) {
      if (!map.is_map()) Refuse(frame.mark, "`<<` needs an object or a list of objects");
      for (auto& [key, value] : map.members) {
        if (!frame.places.contains(key)) Put(frame, key, std::move(value));
      }
    }
  }

  const ParseLimits& limits_;
  int start_ = -1;
  size_t nodes_ = 0;
  size_t copied_bytes_ = 0;  // what anchors keep and aliases repeat
  Node root_;
  std::vector<Frame> frames_;
  absl::flat_hash_map<YAML::anchor_t, Node> anchors_;
};

// An upper bound on the tokens that yaml-cpp keeps at once. Until a `[` or `{` ends, it does not
// know whether it is a key, and keeps all tokens since then, each in up to 240 bytes.
size_t MostKeptTokens(absl::string_view text) {
  const absl::string_view from = text.substr(std::min(text.find_first_of("[{"), text.size()));
  return static_cast<size_t>(std::count_if(
      from.begin(), from.end(), [](char c) { return absl::StrContains("[]{},:?&*!\"'", c); }));
}

}  // namespace

absl::StatusOr<std::vector<Node>> ParseYamlDocuments(absl::string_view text,
                                                     const ParseLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text is larger than ", limits.max_bytes, " bytes"));
  }
  if (const size_t at = go::FindNoUtf8(text); at != absl::string_view::npos) {
    const absl::string_view before = text.substr(0, at);
    return absl::InvalidArgumentError(
        absl::StrCat("line ", 1 + std::count(before.begin(), before.end(), '\n'), ", column ",
                     at - (before.rfind('\n') + 1) + 1, ": not UTF-8"));
  }
  constexpr size_t kTokensForEachNode = 4;
  if (MostKeptTokens(text) / kTokensForEachNode > limits.max_nodes) {
    return absl::InvalidArgumentError("too many values, brackets and quotes");
  }
  std::vector<Node> documents;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    Builder builder(limits);
    while (parser.HandleNextDocument(builder)) {
      Node document = builder.Take();
      if (!document.is_null()) documents.push_back(std::move(document));
    }
  } catch (const Refused& refused) {
    return absl::InvalidArgumentError(refused.message);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("line ", error.mark.line + 1, ", column ",
                                                   error.mark.column + 1, ": ", error.msg));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not YAML: ", error.what()));
  }
  return documents;
}

}  // namespace flyball::scaler
