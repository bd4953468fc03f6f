#include "adapter/live/formats/text_value.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"

namespace flyball::formats {
namespace {

// Powers of ten that a double holds exactly.
constexpr double kPowers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

// Digits with at most one point, so few that they and the power of ten are exact as doubles: what
// most values are. nullopt: another form.
std::optional<double> ParseShort(absl::string_view text) {
  constexpr size_t kExactDigits = 15;
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty() || text.size() > kExactDigits) return std::nullopt;
  uint64_t digits = 0;
  size_t point = text.size();
  for (size_t at = 0; at < text.size(); ++at) {
    if (absl::ascii_isdigit(static_cast<unsigned char>(text[at]))) {
      digits = digits * 10 + static_cast<uint64_t>(text[at] - '0');
    } else if (text[at] == '.' && point == text.size() && text.size() > 1) {
      point = at;
    } else {
      return std::nullopt;
    }
  }
  const size_t fraction = point == text.size() ? 0 : text.size() - point - 1;
  const double value = static_cast<double>(digits) / kPowers[fraction];
  return negative ? -value : value;
}

// Whether it is digits with a point and an exponent, without a sign.
bool IsDecimal(absl::string_view text) {
  size_t at = 0;
  const auto skip_digits = [&] {
    const size_t begin = at;
    while (at < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[at]))) ++at;
    return at - begin;
  };
  size_t digits = skip_digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    digits += skip_digits();
  }
  if (digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (skip_digits() == 0) return false;
  }
  return at == text.size();
}

std::optional<double> ParseDecimal(absl::string_view text) {
  double value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
    return value;
  }
  // from_chars also reports "out of range" for numbers that are too small, where Go gives the
  // nearest number.
  value = std::strtod(std::string(text).c_str(), nullptr);
  if (std::isinf(value)) return std::nullopt;
  return value;
}

}  // namespace

double NormalNan() { return std::bit_cast<double>(uint64_t{0x7ff8000000000001}); }

std::optional<double> ParseValue(absl::string_view text) {
  if (const auto value = ParseShort(text); value.has_value()) return value;
  // Only NaN must stand without a sign.
  if (absl::EqualsIgnoreCase(text, "nan")) return NormalNan();
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (!negative) absl::ConsumePrefix(&text, "+");
  std::optional<double> magnitude;
  if (IsDecimal(text)) {
    magnitude = ParseDecimal(text);
  } else if (absl::EqualsIgnoreCase(text, "inf") || absl::EqualsIgnoreCase(text, "infinity")) {
    magnitude = std::numeric_limits<double>::infinity();
  }
  if (magnitude.has_value() && negative) magnitude = -*magnitude;
  return magnitude;
}

std::string FormatBound(double bound) {
  if (std::isnan(bound)) return "NaN";
  if (std::isinf(bound)) return bound > 0 ? "+Inf" : "-Inf";
  char buffer[64];
  const auto written =
      std::to_chars(buffer, buffer + sizeof buffer, bound, std::chars_format::scientific);
  std::string text(buffer, written.ptr);
  const int exponent = std::atoi(text.c_str() + text.find('e') + 1);
  // Below and above, Go's format 'g' writes an exponent.
  if (exponent < -4 || exponent >= 6) return text;
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, bound, std::chars_format::fixed);
  text.assign(buffer, fixed.ptr);
  if (bound == 0) return "0.0";
  if (!absl::StrContains(text, '.')) text += ".0";
  return text;
}

}  // namespace flyball::formats
