#include "scaler/spec/document.h"

#include <re2/re2.h>

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"

namespace flyball::scaler {

const Node* Node::Find(absl::string_view key) const {
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->key == key) return &member->value;
  }
  return nullptr;
}

absl::string_view Node::FindText(absl::string_view key) const {
  const Node* member = Find(key);
  if (member == nullptr || member->kind != Kind::kString) return "";
  return member->text;
}

absl::string_view KindName(Node::Kind kind) {
  static constexpr absl::string_view kNames[] = {"null",     "a bool", "a number",
                                                 "a string", "a list", "an object"};
  return kNames[static_cast<size_t>(kind)];
}

bool IsJsonNumber(absl::string_view text, bool integer) {
  static const re2::LazyRE2 kNumber = {R"(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)"};
  static const re2::LazyRE2 kInteger = {R"(-?(?:0|[1-9]\d*))"};
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()),
                             integer ? *kInteger : *kNumber);
}

bool GiveNamespace(Node& object) {
  bool given = false;
  for (Member& member : object.members) {
    if (member.key != "metadata" || !member.value.is_map()) continue;
    if (member.value.Find("namespace") != nullptr) continue;
    Node ns;
    ns.kind = Node::Kind::kString;
    ns.text = "default";
    member.value.members.push_back({"namespace", std::move(ns)});
    given = true;
  }
  return given;
}

int LineOf(const Node& document, absl::string_view path) {
  const Node* at = &document;
  int line = document.line;
  for (const absl::string_view step : absl::StrSplit(path, absl::ByAnyChar(".[]"))) {
    if (step.empty()) continue;
    size_t index = 0;
    const Node* next = at->Find(step);
    if (at->is_list() && absl::SimpleAtoi(step, &index) && index < at->items.size()) {
      next = &at->items[index];
    }
    if (next == nullptr) break;
    at = next;
    if (at->line > 0) line = at->line;
  }
  return line;
}

absl::StatusOr<std::vector<Node>> ParseDocuments(absl::string_view text,
                                                 const ParseLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file is larger than ", limits.max_bytes, " bytes"));
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == absl::string_view::npos) return std::vector<Node>{};
  if (text[first] != '{' && text[first] != '[') return ParseYamlDocuments(text, limits);
  ASSIGN_OR_RETURN(Node json, ParseJson(text, limits));
  std::vector<Node> one;
  one.push_back(std::move(json));
  return one;
}

absl::StatusOr<Node> ParseOneObject(absl::string_view text) {
  ASSIGN_OR_RETURN(std::vector<Node> documents, ParseDocuments(text, {.max_nodes = 100'000}));
  if (documents.size() == 1) return std::move(documents.front());
  return absl::InvalidArgumentError(absl::StrCat("expected one object, got ", documents.size()));
}

}  // namespace flyball::scaler
