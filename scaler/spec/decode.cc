#include "scaler/spec/decode.h"

#include <re2/re2.h>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_replace.h"
#include "base/one_line.h"

namespace flyball::scaler {
namespace {

using Kind = Node::Kind;

std::string Shown(const Node& node) {
  if (node.kind == Kind::kString) return absl::StrCat("the string \"", BriefText(node.text), "\"");
  if (node.kind == Kind::kNumber) return absl::StrCat("the number ", BriefText(node.text));
  if (node.kind == Kind::kBool) return node.boolean ? "the bool true" : "the bool false";
  return std::string(KindName(node.kind));
}

bool IsWholeNumber(const Node& from, int64_t& to) {
  return from.kind == Kind::kNumber && absl::SimpleAtoi(from.text, &to);
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
    to[name] = value.text;  // "" for null, as in Go
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
  static const re2::LazyRE2 kGrammar = {
      R"((\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:[0-5]\d)(?:[.,]\d+)?)"
      R"((?:Z|[+-](?:[01]\d|2[0-4]):(?:[0-5]\d|60)))"};
  std::string civil;
  absl::CivilSecond second;
  return re2::RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *kGrammar, &civil) &&
         absl::ParseCivilTime(civil, &second);
}

}  // namespace flyball::scaler
