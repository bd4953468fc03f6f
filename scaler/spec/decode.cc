#include "scaler/spec/decode.h"

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"

namespace flyball::scaler {
namespace {

using Kind = Node::Kind;

std::string Shown(const Node& node) {
  if (node.kind == Kind::kString) return absl::StrCat("the string \"", node.text, "\"");
  if (node.kind == Kind::kNumber) return absl::StrCat("the number ", node.text);
  if (node.kind == Kind::kBool) return node.boolean ? "the bool true" : "the bool false";
  return std::string(KindName(node.kind));
}

bool IsWholeNumber(const Node& from, int64_t& to) {
  return from.kind == Kind::kNumber && absl::SimpleAtoi(from.text, &to);
}

bool Digits(absl::string_view text, size_t at, size_t count) {
  if (text.size() < at + count) return false;
  for (size_t i = at; i < at + count; ++i) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(text[i]))) return false;
  }
  return true;
}

}  // namespace

absl::Status Decoder::Mismatch(const Node& node, absl::string_view path,
                               absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(node.line > 0 ? absl::StrCat("line ", node.line, ": ") : "", path,
                   path.empty() ? "" : ": ", "expected ", expected, ", got ", Shown(node)));
}

absl::Status Decoder::Value(const Node& from, const std::string& path, std::string& to) {
  if (from.kind != Kind::kString) return Mismatch(from, path, "a string");
  to = from.text;
  return absl::OkStatus();
}

absl::Status Decoder::Value(const Node& from, const std::string& path, bool& to) {
  if (from.kind != Kind::kBool) return Mismatch(from, path, "true or false");
  to = from.boolean;
  return absl::OkStatus();
}

absl::Status Decoder::Value(const Node& from, const std::string& path, int64_t& to) {
  return IsWholeNumber(from, to) ? absl::OkStatus() : Mismatch(from, path, "a whole number");
}

absl::Status Decoder::Value(const Node& from, const std::string& path, int32_t& to) {
  int64_t value = 0;
  if (!IsWholeNumber(from, value)) return Mismatch(from, path, "a whole number");
  if (value < INT32_MIN || value > INT32_MAX) {
    return Mismatch(from, path, "a whole number of 32 bits");
  }
  to = static_cast<int32_t>(value);
  return absl::OkStatus();
}

absl::Status Decoder::Value(const Node& from, const std::string& path, kube::Quantity& to) {
  const bool text = (from.kind == Kind::kString && !from.escaped) || from.kind == Kind::kNumber;
  const auto quantity = kube::Quantity::Parse(absl::StripAsciiWhitespace(from.text));
  if (!text || !quantity.ok()) return Mismatch(from, path, "a quantity like 500m, 2 or 1Gi");
  to = *quantity;
  return absl::OkStatus();
}

absl::Status Decoder::Value(const Node& from, const std::string& path,
                            std::optional<absl::Time>& to) {
  if (from.kind != Kind::kString || !IsRfc3339(from.text)) {
    return Mismatch(from, path, "a time like 2026-03-01T12:00:00Z");
  }
  absl::Time time;
  to.reset();
  if (absl::ParseTime(absl::RFC3339_full, from.text, &time, nullptr)) to = time;
  return absl::OkStatus();
}

absl::Status Decoder::Value(const Node& from, const std::string& path,
                            std::map<std::string, std::string>& to) {
  if (!from.is_map()) return Mismatch(from, path, "an object");
  for (const auto& [name, value] : from.members) {
    if (!value.is_null() && value.kind != Kind::kString) {
      return Mismatch(value, absl::StrCat(path, "[", name, "]"), "a string");
    }
    to[name] = value.text;  // of null it is ""
  }
  return absl::OkStatus();
}

absl::Status Decoder::Value(const Node& from, const std::string&, Node& to) {
  to = from;
  return absl::OkStatus();
}

bool MemberDecoder::Fits(absl::string_view name) const {
  if (match_ == KeyMatch::kExact) return member_.key == name;
  // Go folds by Unicode: U+017F and U+212A stand for s and k.
  return absl::EqualsIgnoreCase(
      absl::StrReplaceAll(member_.key, {{"\xC5\xBF", "s"}, {"\xE2\x84\xAA", "k"}}), name);
}

std::string MemberDecoder::PathOf(absl::string_view name) const {
  return absl::StrCat(path_, path_.empty() ? "" : ".", name);
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
