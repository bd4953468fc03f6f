#include "adapter/live/formats/otlp_attributes.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/go/text.h"
#include "promql/text.h"

namespace flyball::formats {
namespace {

// As encoding/json writes it: one digit of a negative exponent is enough.
std::string NumberText(double number) {
  std::string text = promql::FormatValue(number);
  const size_t size = text.size();
  if (size >= 4 && text[size - 4] == 'e' && text[size - 3] == '-' && text[size - 2] == '0') {
    text.erase(size - 2, 1);
  }
  return text;
}

// As encoding/json does without HTML escaping.
void AppendString(absl::string_view text, std::string& out) {
  go::AppendJsonString(text, &out, {.html = false});
}

// False: it cannot be written.
bool AppendJson(const OtlpValue& value, std::string& out);

bool AppendList(const OtlpList& list, std::string& out) {
  out.push_back('[');
  for (const OtlpValue& item : list) {
    if (&item != &list.front()) out.push_back(',');
    if (!AppendJson(item, out)) return false;
  }
  out.push_back(']');
  return true;
}

bool AppendMap(const OtlpMap& map, std::string& out) {
  std::vector<const OtlpMap::value_type*> fields;
  fields.reserve(map.size());
  for (const auto& field : map) fields.push_back(&field);
  std::stable_sort(fields.begin(), fields.end(),
                   [](const auto* a, const auto* b) { return a->key < b->key; });
  out.push_back('{');
  for (size_t i = 0; i < fields.size(); ++i) {
    // Of equal keys the last one counts.
    if (i + 1 < fields.size() && fields[i + 1]->key == fields[i]->key) continue;
    if (out.back() != '{') out.push_back(',');
    AppendString(fields[i]->key, out);
    out.push_back(':');
    if (!AppendJson(fields[i]->value, out)) return false;
  }
  out.push_back('}');
  return true;
}

bool AppendJson(const OtlpValue& value, std::string& out) {
  if (const auto* list = std::get_if<OtlpList>(&value.value)) return AppendList(*list, out);
  if (const auto* map = std::get_if<OtlpMap>(&value.value)) return AppendMap(*map, out);
  if (const auto* text = std::get_if<std::string>(&value.value)) {
    AppendString(*text, out);
  } else if (std::holds_alternative<std::monostate>(value.value)) {
    absl::StrAppend(&out, "null");
  } else if (std::holds_alternative<OtlpBytes>(value.value)) {
    AppendString(OtlpValueText(value), out);
  } else {
    const auto* number = std::get_if<double>(&value.value);
    if (number != nullptr && !std::isfinite(*number)) return false;
    absl::StrAppend(&out, OtlpValueText(value));
  }
  return true;
}

}  // namespace

std::string OtlpValueText(const OtlpValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value.value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<int64_t>(&value.value)) return absl::StrCat(*number);
  if (const auto* bytes = std::get_if<OtlpBytes>(&value.value)) {
    return absl::Base64Escape(bytes->bytes);
  }
  if (const auto* number = std::get_if<double>(&value.value)) {
    if (std::isnan(*number)) return "NaN";
    if (std::isinf(*number)) return *number > 0 ? "Infinity" : "-Infinity";
    return NumberText(*number);
  }
  std::string json;
  if (std::holds_alternative<std::monostate>(value.value) || !AppendJson(value, json)) return "";
  return json;
}

}  // namespace flyball::formats
