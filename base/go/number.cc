#include "base/go/number.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace flyball::go {
namespace {

struct Literal {
  bool negative = false;
  int base = 10;
  bool prefixed = false;     // 0x, 0o, 0b
  absl::string_view digits;  // without sign and prefix
};

Literal Split(absl::string_view text) {
  Literal literal;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    literal.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.size() > 2 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    literal.base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    literal.prefixed = literal.base != 10;
  }
  if (literal.prefixed) text.remove_prefix(2);
  literal.digits = text;
  return literal;
}

// Underscores stand between digits, or after a prefix.
bool UnderscoresFit(const Literal& literal) {
  bool may = literal.prefixed;
  bool open = false;
  for (const char c : literal.digits) {
    if (c == '_') {
      if (!may || open) return false;
      open = true;
      continue;
    }
    const bool digit =
        (c >= '0' && c <= '9') || (literal.base == 16 && ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'));
    if (open && !digit) return false;
    may = digit;
    open = false;
  }
  return !open;
}

// The magnitude; nullopt where it is no integer or too large.
std::optional<uint64_t> ParseMagnitude(Literal literal, bool& overflow) {
  if (!literal.prefixed && literal.digits.size() > 1 && literal.digits[0] == '0') {
    literal.base = 8;
    literal.digits.remove_prefix(1);
  }
  const std::string digits = absl::StrReplaceAll(literal.digits, {{"_", ""}});
  if (digits.empty()) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, literal.base);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) overflow = true;
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> ParseReal(const Literal& literal) {
  if (literal.prefixed && literal.base != 16) return std::nullopt;
  const std::string digits = absl::StrReplaceAll(literal.digits, {{"_", ""}});
  // Go wants the exponent of a hexadecimal number, from_chars does not.
  const bool hex = literal.base == 16;
  if (hex && digits.find_first_of("pP") == std::string::npos) return std::nullopt;
  if (digits.find_first_not_of(hex ? "0123456789abcdefABCDEF.pP+-" : "0123456789.eE+-") !=
      std::string::npos) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value,
                      hex ? std::chars_format::hex : std::chars_format::general);
  if (end != digits.data() + digits.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Too small is 0 in Go, too large an error. A from_chars that fails leaves `value` alone.
    const double scale = std::strtod((hex ? "0x" + digits : digits).c_str(), nullptr);
    if (std::isinf(scale)) return std::nullopt;
    value = scale;
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  return literal.negative ? -value : value;
}

// Whether text[at] opens an exponent, whose sign may follow.
bool IsExponent(absl::string_view text, size_t at) {
  const char c = static_cast<char>(text[at] | 0x20);
  return c == 'p' || (c == 'e' && text.find_first_of("xX") == absl::string_view::npos);
}

std::optional<double> ParseFiniteReal(absl::string_view text) {
  const Literal literal = Split(text);
  if (literal.digits.empty() || !UnderscoresFit(literal)) return std::nullopt;
  return ParseReal(literal);
}

// `2i` and `1+2i`, without the `i`.
std::optional<Number> ParseComplex(absl::string_view text) {
  size_t sign = text.find_last_of("+-");
  if (sign != absl::string_view::npos && sign > 0 && IsExponent(text, sign - 1)) {
    sign = text.substr(0, sign).find_last_of("+-");
  }
  const bool has_real = sign != absl::string_view::npos && sign > 0;
  const auto real = has_real ? ParseFiniteReal(text.substr(0, sign)) : 0.0;
  const auto imaginary = ParseFiniteReal(has_real ? text.substr(sign) : text);
  if (!real || !imaginary) return std::nullopt;
  return Number{std::complex<double>(*real, *imaginary)};
}

}  // namespace

std::optional<Number> ParseNumber(absl::string_view text) {
  if (absl::ConsumeSuffix(&text, "i")) return ParseComplex(text);
  const Literal literal = Split(text);
  if (literal.digits.empty() || !UnderscoresFit(literal)) return std::nullopt;
  bool overflow = false;
  if (const auto magnitude = ParseMagnitude(literal, overflow); magnitude.has_value()) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    if (literal.negative) {
      if (*magnitude > kMax + 1) return std::nullopt;
      return Number{static_cast<int64_t>(0 - *magnitude)};
    }
    if (*magnitude <= kMax) return Number{static_cast<int64_t>(*magnitude)};
    // With a plus sign no unsigned integer either.
    if (text[0] == '+') return std::nullopt;
    return Number{.value = static_cast<int64_t>(*magnitude), .overflows_int = true};
  }
  // What looks like an integer and is none (089) is no real either.
  if (overflow || text.find_first_of(".eEpP") == absl::string_view::npos) return std::nullopt;
  const auto real = ParseReal(literal);
  if (!real) return std::nullopt;
  return Number{*real};
}

std::optional<int64_t> ParseInt(absl::string_view text) {
  const std::optional<Number> number = ParseNumber(text);
  const auto* const value = number ? std::get_if<int64_t>(&number->value) : nullptr;
  if (value == nullptr || number->overflows_int) return std::nullopt;
  return *value;
}

std::optional<int64_t> ParseDecimal(absl::string_view text) {
  // from_chars takes a minus sign, but no plus.
  if (absl::ConsumePrefix(&text, "+") && absl::StartsWith(text, "-")) return std::nullopt;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int32_t> ParseDecimal32(absl::string_view text) {
  const std::optional<int64_t> value = ParseDecimal(text);
  if (!value || *value < std::numeric_limits<int32_t>::min() ||
      *value > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*value);
}

std::optional<double> ParseFloat(absl::string_view text) {
  absl::string_view magnitude = text;
  const bool negative = absl::ConsumePrefix(&magnitude, "-");
  const bool has_sign = negative || absl::ConsumePrefix(&magnitude, "+");
  if (absl::EqualsIgnoreCase(magnitude, "inf") || absl::EqualsIgnoreCase(magnitude, "infinity")) {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  if (!has_sign && absl::EqualsIgnoreCase(magnitude, "nan")) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (absl::StartsWith(magnitude, "+") || absl::StartsWith(magnitude, "-")) return std::nullopt;
  return ParseFiniteReal(text);
}

std::optional<bool> ParseBool(absl::string_view text) {
  for (const absl::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const absl::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

}  // namespace flyball::go
