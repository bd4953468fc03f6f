#include "scaler/inputs/fields.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace flyball::scaler {

Node MapNode() {
  Node node;
  node.kind = Node::Kind::kMap;
  return node;
}

Node TextNode(absl::string_view text) {
  Node node;
  node.kind = Node::Kind::kString;
  node.text = std::string(text);
  return node;
}

const std::vector<Node>& ItemsOf(const Node& node, absl::string_view key) {
  static const std::vector<Node>* const kNone = new std::vector<Node>();
  const Node* member = node.Find(key);
  return member == nullptr ? *kNone : member->items;
}

const Node& ObjectOf(const Node& node, absl::string_view key) {
  static const Node* const kEmpty = new Node(MapNode());
  const Node* member = node.Find(key);
  return member == nullptr ? *kEmpty : *member;
}

std::optional<absl::Time> TimeOf(const Node& node, absl::string_view key) {
  absl::Time time;
  const absl::string_view text = node.FindText(key);
  if (text.empty() || !absl::ParseTime(absl::RFC3339_full, text, &time, nullptr)) {
    return std::nullopt;
  }
  return time;
}

kube::Labels LabelsOf(const Node& node, absl::string_view key) {
  kube::Labels out;
  for (const auto& [name, value] : ObjectOf(node, key).members) out[name] = value.text;
  return out;
}

absl::StatusOr<ResourceList> ResourcesOf(const Node& node, absl::string_view key,
                                         absl::string_view path) {
  ResourceList out;
  const Node& map = ObjectOf(node, key);
  if (map.is_null()) return out;
  if (!map.is_map()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ".", key, ": expected an object, got ", KindName(map.kind)));
  }
  for (const auto& [name, value] : map.members) {
    if (value.is_null()) continue;
    const bool written = value.kind == Node::Kind::kString || value.kind == Node::Kind::kNumber;
    const auto quantity = written ? kube::Quantity::Parse(value.text)
                                  : absl::InvalidArgumentError("expected a quantity like 500m");
    if (!quantity.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ".", key, "[", name, "]: ", quantity.status().message()));
    }
    out.emplace_back(name, *quantity);
  }
  return out;
}

}  // namespace flyball::scaler
