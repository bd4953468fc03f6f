#include "promql/text.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/go/text.h"
#include "base/one_line.h"

namespace flyball::promql {
namespace {

// The shortest digits that tell the value, with an exponent of two digits at least: `1.5e+03`.
std::string Scientific(double value) {
  char buffer[32];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  return std::string(buffer, end.ptr);
}

std::optional<std::string> FormatNonFinite(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return std::nullopt;
}

std::string Format(double value, double exponent_below, double exponent_from) {
  if (auto text = FormatNonFinite(value)) return *text;
  const double magnitude = std::fabs(value);
  if (magnitude != 0 && (magnitude < exponent_below || magnitude >= exponent_from)) {
    return Scientific(value);
  }
  return FormatPlain(value);
}

absl::Status NumberError(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("error parsing number: strconv.ParseFloat: parsing ", Quote(text), ": ", why));
}

// Go's ParseInt with base 0, for what the lexer lets through: 0x…, 0…, decimal.
std::optional<double> ParseGoInteger(absl::string_view text) {
  int base = 10;
  if (absl::StartsWithIgnoreCase(text, "0x")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
    text.remove_prefix(1);
  }
  int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return static_cast<double>(value);
}

struct Unit {
  absl::string_view name;
  int64_t ms;
};
constexpr Unit kUnits[] = {
    {"y", 31'536'000'000}, {"w", 604'800'000}, {"d", 86'400'000}, {"h", 3'600'000},
    {"m", 60'000},         {"s", 1'000},       {"ms", 1}};
constexpr int64_t kMaxDurationMs = std::numeric_limits<int64_t>::max() / 1'000'000;

// The "…" that means the same as the '…'; what only '…' refuses becomes something that "…" refuses.
std::string DoubleQuoted(absl::string_view literal) {
  std::string out = "\"";
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    const char c = literal[i];
    if (c == '"') {
      out += "\\\"";
    } else if (c == '\\' && i + 2 < literal.size()) {
      const char escaped = literal[++i];
      if (escaped == '\'') {
        out += '\'';
      } else if (escaped == '"') {
        out += "\\'";
      } else {
        out += {'\\', escaped};
      }
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

std::string FormatPlain(double value) {
  if (auto text = FormatNonFinite(value)) return *text;
  const std::string scientific = Scientific(std::fabs(value));
  const size_t e = scientific.find('e');
  const std::string digits = absl::StrReplaceAll(scientific.substr(0, e), {{".", ""}});
  const int exponent = std::atoi(scientific.c_str() + e + 1);  // of the first digit
  const int length = static_cast<int>(digits.size());
  std::string text = std::signbit(value) ? "-" : "";
  if (exponent < 0) {
    absl::StrAppend(&text, "0.", std::string(static_cast<size_t>(-exponent - 1), '0'), digits);
  } else if (length <= exponent + 1) {
    absl::StrAppend(&text, digits, std::string(static_cast<size_t>(exponent + 1 - length), '0'));
  } else {
    const auto whole = static_cast<size_t>(exponent + 1);
    absl::StrAppend(&text, digits.substr(0, whole), ".", digits.substr(whole));
  }
  return text;
}

std::string FormatValue(double value) { return Format(value, 1e-6, 1e21); }

std::string FormatShort(double value) { return Format(value, 1e-4, 1e21); }

absl::StatusOr<double> ParseNumber(absl::string_view text) {
  if (absl::EqualsIgnoreCase(text, "inf")) return std::numeric_limits<double>::infinity();
  if (absl::EqualsIgnoreCase(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  const std::string plain = absl::StrReplaceAll(text, {{"_", ""}});
  if (auto integer = ParseGoInteger(plain)) return *integer;
  // from_chars leaves a dangling exponent (`1e`) unread, which Go refuses too.
  double value = 0;
  const char* const last = plain.data() + plain.size();
  const auto end = std::from_chars(plain.data(), last, value);
  if (end.ptr != last) return NumberError(text, "invalid syntax");
  if (end.ec == std::errc::result_out_of_range) {
    // Too small is 0 for Go, too large is an error; only the latter has a positive exponent here.
    const double read = std::strtod(plain.c_str(), nullptr);
    if (std::isinf(read)) return NumberError(text, "value out of range");
    return read;
  }
  if (end.ec != std::errc()) return NumberError(text, "invalid syntax");
  return value;
}

std::optional<double> ParseBound(absl::string_view text) {
  const bool negative = absl::StartsWith(text, "-");
  if (negative || absl::StartsWith(text, "+")) text.remove_prefix(1);
  auto format = std::chars_format::general;
  if (absl::StartsWithIgnoreCase(text, "0x")) {
    // Go wants the exponent written out.
    if (!absl::StrContains(text, 'p') && !absl::StrContains(text, 'P')) return std::nullopt;
    text.remove_prefix(2);
    format = std::chars_format::hex;
  }
  if (text.empty() || text[0] == '-' || absl::StrContains(text, '(')) return std::nullopt;
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

absl::StatusOr<int64_t> ParseDurationMs(absl::string_view text) {
  const auto error = [text] {
    return absl::InvalidArgumentError(
        absl::StrCat("not a valid duration string: ", Quote(Abridged(text))));
  };
  absl::string_view rest = text;
  int64_t total = 0;
  size_t next_unit = 0;
  while (!rest.empty()) {
    int64_t count = 0;
    const auto end = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (end.ec != std::errc() || !absl::ascii_isdigit(rest[0])) return error();
    rest.remove_prefix(static_cast<size_t>(end.ptr - rest.data()));
    size_t length = 0;
    while (length < rest.size() && absl::ascii_isalpha(rest[length])) ++length;
    const absl::string_view unit = rest.substr(0, length);
    rest.remove_prefix(length);
    while (next_unit < std::size(kUnits) && kUnits[next_unit].name != unit) ++next_unit;
    if (next_unit == std::size(kUnits)) return error();
    const int64_t unit_ms = kUnits[next_unit++].ms;
    if (count > kMaxDurationMs / unit_ms) {
      return absl::InvalidArgumentError("duration out of range");
    }
    total += count * unit_ms;
    if (total > kMaxDurationMs) return absl::InvalidArgumentError("duration out of range");
  }
  if (next_unit == 0) return error();
  return total;
}

std::string FormatDurationMs(int64_t ms) {
  if (ms == 0) return "0s";
  std::string text = ms < 0 ? "-" : "";
  uint64_t rest = ms < 0 ? -static_cast<uint64_t>(ms) : static_cast<uint64_t>(ms);
  for (const Unit& unit : kUnits) {
    const auto unit_ms = static_cast<uint64_t>(unit.ms);
    if (rest < unit_ms) continue;
    absl::StrAppend(&text, rest / unit_ms, unit.name);
    rest %= unit_ms;
  }
  return text;
}

std::string Quote(absl::string_view text) { return go::Quote(text); }

absl::StatusOr<std::string> Unquote(absl::string_view literal) {
  auto text =
      absl::StartsWith(literal, "'") ? go::Unquote(DoubleQuoted(literal)) : go::Unquote(literal);
  if (!text) return absl::InvalidArgumentError("invalid syntax");
  return *std::move(text);
}

std::string FormatLabels(const LabelSet& labels) { return FormatLabels(Labels(labels)); }

std::string FormatLabels(const Labels& labels) {
  std::string name, rest;
  for (const auto& [label, value] : labels) {
    if (label == "__name__") {
      name = std::string(value);
    } else {
      absl::StrAppend(&rest, rest.empty() ? "" : ", ", label, "=", Quote(value));
    }
  }
  if (rest.empty() && !name.empty()) return name;
  return absl::StrCat(name, "{", rest, "}");
}

bool IsIdentifier(absl::string_view text, bool colon_allowed) {
  if (text.empty() || absl::ascii_isdigit(text[0])) return false;
  for (const char c : text) {
    if (!absl::ascii_isalnum(c) && c != '_' && !(colon_allowed && c == ':')) return false;
  }
  return true;
}

}  // namespace flyball::promql
