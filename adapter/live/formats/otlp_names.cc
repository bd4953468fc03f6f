#include "adapter/live/formats/otlp_names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "adapter/live/formats/samples.h"
#include "base/go/text.h"
#include "base/one_line.h"

namespace flyball::formats {
namespace {

struct UnitName {
  absl::string_view unit;
  absl::string_view name;
};

constexpr UnitName kUnits[] = {
    {"d", "days"},
    {"h", "hours"},
    {"min", "minutes"},
    {"s", "seconds"},
    {"ms", "milliseconds"},
    {"us", "microseconds"},
    {"ns", "nanoseconds"},
    {"By", "bytes"},
    {"KiBy", "kibibytes"},
    {"MiBy", "mebibytes"},
    {"GiBy", "gibibytes"},
    {"TiBy", "tibibytes"},
    {"KBy", "kilobytes"},
    {"MBy", "megabytes"},
    {"GBy", "gigabytes"},
    {"TBy", "terabytes"},
    {"m", "meters"},
    {"V", "volts"},
    {"A", "amperes"},
    {"J", "joules"},
    {"W", "watts"},
    {"g", "grams"},
    {"Cel", "celsius"},
    {"Hz", "hertz"},
    {"1", ""},
    {"%", "percent"},
};
constexpr UnitName kPerUnits[] = {
    {"s", "second"}, {"m", "minute"}, {"h", "hour"}, {"d", "day"},
    {"w", "week"},   {"mo", "month"}, {"y", "year"},
};

template <size_t kSize>
absl::string_view NameOf(const UnitName (&names)[kSize], absl::string_view unit) {
  for (const UnitName& name : names) {
    if (name.unit == unit) return name.name;
  }
  return unit;
}

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == ':'; }

bool IsSpace(char32_t rune) {  // unicode.IsSpace
  return rune == ' ' || (rune >= '\t' && rune <= '\r') || rune == 0x85 || rune == 0xa0 ||
         rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) || rune == 0x2028 || rune == 0x2029 ||
         rune == 0x202f || rune == 0x205f || rune == 0x3000;
}

absl::string_view TrimSpace(absl::string_view text) {
  size_t begin = 0, end = 0;  // of what is left
  bool blank = true;
  for (size_t at = 0; at < text.size();) {
    const go::Rune rune = go::DecodeRune(text.substr(at));
    const size_t next = at + static_cast<size_t>(rune.length);
    if (!rune.valid || !IsSpace(rune.value)) {
      if (blank) begin = at;
      blank = false;
      end = next;
    }
    at = next;
  }
  return blank ? "" : text.substr(begin, end - begin);
}

// With `_` for each run of other characters, but none at the start.
std::string Cleaned(absl::string_view text) {
  std::string out;
  for (const char c : text) {
    if (IsNameCharacter(c)) {
      out.push_back(c);
    } else if (!out.empty() && out.back() != '_') {
      out.push_back('_');
    }
  }
  return out;
}

// The suffixes that a unit adds to a name: for the unit itself, and for the part after `/`.
struct UnitSuffixes {
  std::string main;
  std::string per;  // `per_second`
};

// The name for one part of a unit. A part in braces is an annotation and adds nothing.
template <size_t kSize>
absl::string_view PartName(const UnitName (&names)[kSize], absl::string_view part) {
  part = TrimSpace(part);
  if (part.find_first_of("{}") != absl::string_view::npos) return "";
  return NameOf(names, part);
}

UnitSuffixes SuffixesOf(absl::string_view unit) {
  UnitSuffixes suffixes;
  const size_t slash = unit.find('/');
  suffixes.main = Cleaned(PartName(kUnits, unit.substr(0, slash)));
  if (slash == absl::string_view::npos) return suffixes;
  const absl::string_view per = PartName(kPerUnits, unit.substr(slash + 1));
  if (!per.empty()) suffixes.per = Cleaned(absl::StrCat("per_", per));
  return suffixes;
}

using Tokens = std::vector<std::string>;

Tokens Split(absl::string_view name) {
  Tokens tokens;
  bool inside = false;
  for (const char c : name) {
    if (!IsNameCharacter(c)) {
      inside = false;
      continue;
    }
    if (!inside) tokens.emplace_back();
    inside = true;
    tokens.back().push_back(c);
  }
  return tokens;
}

void MoveToEnd(absl::string_view token, Tokens& tokens) {
  tokens.erase(std::remove(tokens.begin(), tokens.end(), token), tokens.end());
  tokens.emplace_back(token);
}

void AddUnit(UnitSuffixes unit, Tokens& tokens) {
  if (std::find(tokens.begin(), tokens.end(), unit.main) != tokens.end()) unit.main.clear();
  if (unit.per == "per_") unit.per.clear();
  unit.per = std::string(absl::StripSuffix(unit.per, "_"));
  if (!unit.per.empty()) unit.main = std::string(absl::StripSuffix(unit.main, "_"));
  if (!unit.main.empty()) tokens.push_back(std::move(unit.main));
  if (!unit.per.empty()) tokens.push_back(std::move(unit.per));
}

absl::Status Nothing(absl::string_view what, absl::string_view name) {
  return absl::InvalidArgumentError(absl::StrCat(
      what, " ", go::Quote(Abridged(name, kMaxLabelNameBytes)), " has no letter or digit"));
}

bool OnlyUnderscores(absl::string_view name) {
  return name.find_first_not_of('_') == absl::string_view::npos;
}

}  // namespace

absl::StatusOr<std::string> OtlpMetricName(const OtlpMetric& metric) {
  Tokens tokens = Split(metric.name);
  AddUnit(SuffixesOf(metric.unit), tokens);
  if (metric.kind == OtlpKind::kSum && metric.monotonic) MoveToEnd("total", tokens);
  if (metric.kind == OtlpKind::kGauge && metric.unit == "1") MoveToEnd("ratio", tokens);
  std::string name = absl::StrJoin(tokens, "_");
  if (OnlyUnderscores(name)) return Nothing("metric", metric.name);
  if (absl::ascii_isdigit(name.front())) name.insert(0, "_");
  return name;
}

absl::StatusOr<std::string> OtlpLabelName(absl::string_view key) {
  std::string name;
  for (absl::string_view rest = key; !rest.empty();) {
    const auto length = static_cast<size_t>(go::DecodeRune(rest).length);
    name.push_back(absl::ascii_isalnum(rest[0]) ? rest[0] : '_');
    rest.remove_prefix(length);
  }
  // One `_` alone gets its prefix too, and is a name then.
  if (!name.empty() && absl::ascii_isdigit(name.front())) return absl::StrCat("key_", name);
  if (!name.empty() && name.front() == '_' && !absl::StartsWith(name, "__")) {
    return absl::StrCat("key", name);
  }
  if (OnlyUnderscores(name)) return Nothing("attribute", key);
  return name;
}

}  // namespace flyball::formats
