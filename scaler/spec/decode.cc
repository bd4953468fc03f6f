#include "scaler/spec/shape.h"

#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "kube/objects/quantity.h"

namespace flyball::scaler {
namespace {

using Kind = Node::Kind;
using Type = Shape::Type;

std::string Shown(const Node& node) {
  if (node.kind == Kind::kString) return absl::StrCat("the string \"", node.text, "\"");
  if (node.kind == Kind::kNumber) return absl::StrCat("the number ", node.text);
  if (node.kind == Kind::kBool) return node.boolean ? "the bool true" : "the bool false";
  return std::string(KindName(node.kind));
}

absl::Status Mismatch(const Node& node, absl::string_view path, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(node.line > 0 ? absl::StrCat("line ", node.line, ": ") : "", path,
                   path.empty() ? "" : ": ", "expected ", expected, ", got ", Shown(node)));
}

bool NamesEqual(absl::string_view a, absl::string_view b, KeyMatch match) {
  if (match == KeyMatch::kExact) return a == b;
  // Go folds by Unicode: U+017F and U+212A stand for s and k.
  std::string folded(a);
  for (const auto& [rune, letter] : {std::pair<absl::string_view, char>{"\xC5\xBF", 's'},
                                     std::pair<absl::string_view, char>{"\xE2\x84\xAA", 'k'}}) {
    for (size_t at; (at = folded.find(rune.data(), 0, rune.size())) != std::string::npos;) {
      folded.replace(at, rune.size(), 1, letter);
    }
  }
  return absl::EqualsIgnoreCase(folded, b);
}

const Field* FindField(const Shape& shape, absl::string_view name, KeyMatch match) {
  for (const Field& field : shape.fields) {
    if (field.name == name) return &field;
  }
  if (match == KeyMatch::kExact) return nullptr;
  for (const Field& field : shape.fields) {
    if (NamesEqual(name, field.name, match)) return &field;
  }
  return nullptr;
}

class Conformer {
 public:
  explicit Conformer(KeyMatch match) : match_(match) {}

  // Writes `from` over `to`, which holds what earlier values of the same field left.
  absl::Status Write(const Node& from, const Shape& shape, const std::string& path, Node& to) {
    to.line = from.line;
    switch (shape.type) {
      case Type::kString:
        if (from.kind != Kind::kString) return Mismatch(from, path, "a string");
        to = from;
        return absl::OkStatus();
      case Type::kBool:
        if (from.kind != Kind::kBool) return Mismatch(from, path, "true or false");
        to = from;
        return absl::OkStatus();
      case Type::kInt32:
      case Type::kInt64:
        return WriteInteger(from, shape.type, path, to);
      case Type::kQuantity:
        return WriteQuantity(from, path, to);
      case Type::kTime:
        if (from.kind != Kind::kString || !IsRfc3339(from.text)) {
          return Mismatch(from, path, "a time like 2026-03-01T12:00:00Z");
        }
        to = from;
        return absl::OkStatus();
      case Type::kAny:
        to = from;
        return absl::OkStatus();
      case Type::kStringMap:
        return WriteStringMap(from, path, to);
      case Type::kList:
        return WriteList(from, shape, path, to);
      case Type::kStruct:
        return WriteStruct(from, shape, path, to);
    }
    return absl::OkStatus();
  }

 private:
  static Node& Slot(Node& map, absl::string_view name) {
    for (auto& [known, value] : map.members) {
      if (known == name) return value;
    }
    map.members.push_back({std::string(name), Node{}});
    return map.members.back().value;
  }

  static absl::Status WriteInteger(const Node& from, Type type, const std::string& path, Node& to) {
    int64_t value = 0;
    if (from.kind != Kind::kNumber || !absl::SimpleAtoi(from.text, &value)) {
      return Mismatch(from, path, "a whole number");
    }
    if (type == Type::kInt32 && (value < INT32_MIN || value > INT32_MAX)) {
      return Mismatch(from, path, "a whole number of 32 bits");
    }
    to = from;
    return absl::OkStatus();
  }

  static absl::Status WriteQuantity(const Node& from, const std::string& path, Node& to) {
    const bool text = (from.kind == Kind::kString && !from.escaped) || from.kind == Kind::kNumber;
    const std::string trimmed(absl::StripAsciiWhitespace(from.text));
    if (!text || !kube::Quantity::Parse(trimmed).ok()) {
      return Mismatch(from, path, "a quantity like 500m, 2 or 1Gi");
    }
    to = from;
    to.kind = Kind::kString;
    to.text = trimmed;
    return absl::OkStatus();
  }

  absl::Status WriteStringMap(const Node& from, const std::string& path, Node& to) {
    if (!from.is_map()) return Mismatch(from, path, "an object");
    to.kind = Kind::kMap;
    for (const auto& [name, value] : from.members) {
      Node& slot = Slot(to, name);
      if (value.is_null()) {
        slot = Node{};
        slot.kind = Kind::kString;
      } else if (value.kind != Kind::kString) {
        return Mismatch(value, absl::StrCat(path, "[", name, "]"), "a string");
      } else {
        slot = value;
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteList(const Node& from, const Shape& shape, const std::string& path, Node& to) {
    if (!from.is_list()) return Mismatch(from, path, "a list");
    to.kind = Kind::kList;
    to.items.resize(from.items.size());
    for (size_t i = 0; i < from.items.size(); ++i) {
      Node& item = to.items[i];
      if (item.is_null()) Empty(*shape.item, item);
      if (from.items[i].is_null()) continue;
      if (auto status = Write(from.items[i], *shape.item, absl::StrCat(path, "[", i, "]"), item);
          !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

  absl::Status WriteStruct(const Node& from, const Shape& shape, const std::string& path,
                           Node& to) {
    if (!from.is_map()) return Mismatch(from, path, "an object");
    to.kind = Kind::kMap;
    for (const auto& [name, value] : from.members) {
      const Field* field = FindField(shape, name, match_);
      if (field == nullptr) continue;
      const Type type = field->shape->type;
      if (value.is_null()) {
        const bool emptied = field->nullable || type == Type::kList || type == Type::kStringMap ||
                             type == Type::kTime || type == Type::kQuantity;
        if (emptied) Slot(to, field->name) = Node{};
        continue;
      }
      const std::string at =
          path.empty() ? std::string(field->name) : absl::StrCat(path, ".", field->name);
      if (auto status = Write(value, *field->shape, at, Slot(to, field->name)); !status.ok()) {
        return status;
      }
    }
    // What null emptied is absent.
    std::erase_if(to.members, [](const auto& member) { return member.value.is_null(); });
    return absl::OkStatus();
  }

  // Go's zero value, for a null in a list.
  static void Empty(const Shape& shape, Node& to) {
    to.kind = shape.type == Type::kStruct ? Kind::kMap : Kind::kString;
  }

  KeyMatch match_;
};

bool Digits(absl::string_view text, size_t at, size_t count) {
  if (text.size() < at + count) return false;
  for (size_t i = at; i < at + count; ++i) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Node> Conform(const Node& from, const Shape& shape, KeyMatch match,
                             absl::string_view path) {
  Node to;
  if (auto status = Conformer(match).Write(from, shape, std::string(path), to); !status.ok()) {
    return status;
  }
  return to;
}

bool IsRfc3339(absl::string_view text) {
  if (!Digits(text, 0, 4) || !Digits(text, 5, 2) || !Digits(text, 8, 2) || !Digits(text, 11, 2) ||
      !Digits(text, 14, 2) || !Digits(text, 17, 2) || text[4] != '-' || text[7] != '-' ||
      text[10] != 'T' || text[13] != ':' || text[16] != ':') {
    return false;
  }
  absl::string_view rest = text.substr(19);
  if (!rest.empty() && (rest[0] == '.' || rest[0] == ',')) {
    size_t end = 1;
    while (end < rest.size() && absl::ascii_isdigit(static_cast<unsigned char>(rest[end]))) ++end;
    if (end == 1) return false;
    rest.remove_prefix(end);
  }
  const bool offset = rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') &&
                      Digits(rest, 1, 2) && rest[3] == ':' && Digits(rest, 4, 2) &&
                      rest.substr(1, 2) <= "24" && rest.substr(4, 2) <= "60";
  if (rest != "Z" && !offset) return false;
  absl::CivilSecond second;
  const std::string civil(text.substr(0, 19));
  return text.substr(17, 2) < "60" && text.substr(11, 2) < "24" &&
         absl::ParseCivilTime(civil, &second);
}

}  // namespace flyball::scaler
