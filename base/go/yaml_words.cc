#include "base/go/yaml_words.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/civil_time.h"

namespace flyball::go {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes digits off the front, `most` at most. -1: there is none.
int TakeNumber(size_t most, absl::string_view& text) {
  int number = -1;
  for (size_t i = 0; i < most && !text.empty() && IsDigit(text[0]); ++i) {
    number = std::max(number, 0) * 10 + (text[0] - '0');
    text.remove_prefix(1);
  }
  return number;
}

bool Take(char c, absl::string_view& text) {
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

// A time of day in the form 15:4:5.999; the fraction is optional.
bool TakeTime(absl::string_view& text) {
  const int hour = TakeNumber(2, text);
  const int minute = Take(':', text) ? TakeNumber(2, text) : -1;
  const int second = Take(':', text) ? TakeNumber(2, text) : -1;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false;
  if (text.size() > 1 && (text[0] == '.' || text[0] == ',') && IsDigit(text[1])) {
    text.remove_prefix(1);
    while (!text.empty() && IsDigit(text[0])) text.remove_prefix(1);
  }
  return true;
}

// time.Parse with goyaml's four layouts.
bool IsTime(absl::string_view text) {
  if (text.size() < 5 || !std::all_of(text.begin(), text.begin() + 4, IsDigit)) return false;
  const int year = TakeNumber(4, text);
  const int month = Take('-', text) ? TakeNumber(2, text) : -1;
  const int day = Take('-', text) ? TakeNumber(2, text) : -1;
  if (month < 1 || day < 1) return false;
  const absl::CivilDay date(year, month, day);
  if (date.month() != month || date.day() != day) return false;  // it was carried over
  if (text.empty()) return true;
  if (Take(' ', text)) {
    while (Take(' ', text)) {
    }
    return TakeTime(text) && text.empty();
  }
  if (!Take('T', text) && !Take('t', text)) return false;
  if (!TakeTime(text)) return false;
  if (text == "Z") return true;
  if (!Take('+', text) && !Take('-', text)) return false;
  if (text.size() != 5 || text[2] != ':') return false;
  const int hours = TakeNumber(2, text);
  text.remove_prefix(1);
  const int minutes = TakeNumber(2, text);
  return text.empty() && hours >= 0 && hours <= 24 && minutes >= 0 && minutes <= 60;
}

std::string WithoutUnderscores(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"_", ""}});
}

// Of a text that begins with a digit or a sign.
YamlType NumberType(absl::string_view text) {
  if (const std::optional<Number> number = YamlInt(text); number.has_value()) {
    return number->overflows_int ? YamlType::kUint : YamlType::kInt;
  }
  static const re2::LazyRE2 kFloat = {"[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?"};
  const std::string plain = WithoutUnderscores(text);
  const bool fits = re2::RE2::FullMatch(plain, *kFloat) && ParseFloat(plain);
  return fits ? YamlType::kFloat : YamlType::kText;
}

template <typename... Words>
bool IsOneOf(absl::string_view text, Words... words) {
  return ((text == words) || ...);
}

}  // namespace

YamlType YamlTypeOf(absl::string_view text) {
  if (text.empty() || IsYamlNull(text)) return YamlType::kNull;
  if (YamlBool(text).has_value()) return YamlType::kBool;
  if (IsYamlSpecialNumber(text)) return YamlType::kFloat;
  if (text[0] == '.') return ParseFloat(text) ? YamlType::kFloat : YamlType::kText;
  if (text[0] != '+' && text[0] != '-' && !IsDigit(text[0])) return YamlType::kText;
  return IsTime(text) ? YamlType::kTime : NumberType(text);
}

std::optional<bool> YamlBool(absl::string_view text) {
  if (IsOneOf(text, "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON")) {
    return true;
  }
  if (IsOneOf(text, "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF")) {
    return false;
  }
  return std::nullopt;
}

std::optional<Number> YamlInt(absl::string_view text) {
  if (text.empty() || text[0] == '_') return std::nullopt;
  std::string plain = WithoutUnderscores(text);
  // What follows this prefix is read as a number of its own, with its sign.
  if (absl::StartsWith(plain, "0b-") || absl::StartsWith(plain, "0b+")) {
    plain = absl::StrCat(plain.substr(2, 1), "0b", plain.substr(3));
  }
  std::optional<Number> number = ParseNumber(plain);
  if (number && !std::holds_alternative<int64_t>(number->value)) return std::nullopt;
  return number;
}

bool IsYamlNull(absl::string_view word) { return IsOneOf(word, "~", "null", "Null", "NULL"); }

bool IsYamlSpecialNumber(absl::string_view word) {
  return IsOneOf(word, ".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF",
                 "-.inf", "-.Inf", "-.INF");
}

}  // namespace flyball::go
