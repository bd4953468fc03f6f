#include "convert/documents.h"

#include <re2/re2.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kube/objects/json_members.h"
#include "scaler/spec/document_json.h"

namespace flyball::convert {
namespace {

using Json = nlohmann::ordered_json;
using scaler::Node;

void Flatten(Node& node, std::vector<Node>& out) {
  const bool list = absl::EndsWith(node.FindText("kind"), "List") && node.Find("items") != nullptr;
  if (!list) {
    out.push_back(std::move(node));
    return;
  }
  for (scaler::Member& member : node.members) {
    if (member.key != "items") continue;
    for (Node& item : member.value.items) Flatten(item, out);
  }
}

void DropNulls(Json& json) {
  if (json.is_object()) {
    for (auto it = json.begin(); it != json.end();) {
      it = it->is_null() ? json.erase(it) : std::next(it);
    }
  }
  if (!json.is_structured()) return;
  for (Json& each : json) DropNulls(each);
}

}  // namespace

Json ObjectOf(const Node& node) {
  Json object = scaler::JsonOf<Json>(node);
  DropNulls(object["spec"]);
  return object;
}

std::string NamespacedName(const Json& object, const std::string& name) {
  return absl::StrCat(kube::TextOf(kube::MemberOf(object, "metadata"), "namespace"), "/", name);
}

std::string OneLine(absl::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = ' ';
  }
  // YAML ends lines at these too: U+0085, U+2028 and U+2029.
  return absl::StrReplaceAll(line,
                             {{"\xc2\x85", " "}, {"\xe2\x80\xa8", " "}, {"\xe2\x80\xa9", " "}});
}

void AddError(absl::string_view file, int line, absl::string_view what, Conversion& conversion) {
  conversion.errors.push_back(
      absl::StrCat(file, line > 0 ? absl::StrCat(":", line) : "", ": ", what));
}

void AddNothing(absl::string_view file, absl::string_view kinds, Conversion& conversion) {
  conversion.nothing = true;
  AddError(file, 0, absl::StrCat("no ", kinds, " in it"), conversion);
}

void AddDecodeError(absl::string_view file, int line, absl::string_view message,
                    Conversion& conversion) {
  static const re2::LazyRE2 kPlaced = {"(?s)line (\\d+)(?:: |, )(.*)"};
  const std::string text(message);
  std::string what;
  int placed = 0;
  if (re2::RE2::FullMatch(text, *kPlaced, &placed, &what)) {
    return AddError(file, placed, what, conversion);
  }
  AddError(file, line, text, conversion);
}

absl::StatusOr<std::vector<Node>> ReadObjects(absl::string_view file, absl::string_view text,
                                              Conversion& conversion) {
  absl::StatusOr<std::vector<Node>> documents =
      scaler::ParseDocuments(text, {.max_nodes = 1'000'000});
  if (!documents.ok()) {
    AddDecodeError(file, 0, documents.status().message(), conversion);
    return documents.status();
  }
  std::vector<Node> objects;
  for (Node& document : *documents) Flatten(document, objects);
  return objects;
}

}  // namespace flyball::convert
