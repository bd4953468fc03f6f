#include "base/go/duration.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace flyball::go {
namespace {

struct Unit {
  absl::string_view name;
  uint64_t nanos;
};

constexpr Unit kUnits[] = {{"ns", 1},          {"us", 1000},        {"µs", 1000},
                           {"μs", 1000},       {"ms", 1000000},     {"s", 1000000000},
                           {"m", 60000000000}, {"h", 3600000000000}};

constexpr uint64_t kMaxNanos = std::numeric_limits<int64_t>::max();

// Reads digits off the front; false on overflow.
bool TakeInteger(absl::string_view* text, uint64_t* value) {
  *value = 0;
  while (!text->empty() && absl::ascii_isdigit(text->front())) {
    if (*value > kMaxNanos / 10) return false;
    *value = *value * 10 + static_cast<uint64_t>(text->front() - '0');
    if (*value > kMaxNanos) return false;
    text->remove_prefix(1);
  }
  return true;
}

// Digits after the point as numerator and power of ten; further ones than fit are dropped.
void TakeFraction(absl::string_view* text, uint64_t* numerator, double* scale) {
  *numerator = 0;
  *scale = 1;
  bool full = false;
  while (!text->empty() && absl::ascii_isdigit(text->front())) {
    full = full || *numerator > (kMaxNanos - 9) / 10;
    if (!full) {
      *numerator = *numerator * 10 + static_cast<uint64_t>(text->front() - '0');
      *scale *= 10;
    }
    text->remove_prefix(1);
  }
}

// As package time quotes in its errors, which is not strconv.Quote.
std::string QuoteAsTime(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || byte < ' ') {
      absl::StrAppend(&out, "\\x", absl::Hex(byte, absl::kZeroPad2));
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// `value` of `unit` nanoseconds with its fraction and without trailing zeros: 1.5, 10.034.
void AppendFraction(uint64_t value, uint64_t unit, std::string& out) {
  absl::StrAppend(&out, value / unit);
  uint64_t rest = value % unit;
  if (rest == 0) return;
  out.push_back('.');
  for (unit /= 10; rest != 0; unit /= 10) {
    out.push_back(static_cast<char>('0' + rest / unit));
    rest %= unit;
  }
}

}  // namespace

absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("time: ", what, " ", QuoteAsTime(text)));
  };
  absl::string_view rest = text;
  const bool negative = absl::ConsumePrefix(&rest, "-");
  if (!negative) absl::ConsumePrefix(&rest, "+");
  if (rest == "0") return absl::ZeroDuration();
  if (rest.empty()) return error("invalid duration");
  uint64_t total = 0;
  while (!rest.empty()) {
    if (rest.front() != '.' && !absl::ascii_isdigit(rest.front())) return error("invalid duration");
    const size_t before = rest.size();
    uint64_t whole = 0;
    uint64_t numerator = 0;
    double scale = 1;
    if (!TakeInteger(&rest, &whole)) return error("invalid duration");
    bool any_digit = rest.size() != before;
    if (absl::ConsumePrefix(&rest, ".")) {
      const size_t at_fraction = rest.size();
      TakeFraction(&rest, &numerator, &scale);
      any_digit = any_digit || rest.size() != at_fraction;
    }
    if (!any_digit) return error("invalid duration");
    size_t length = 0;
    while (length < rest.size() && rest[length] != '.' && !absl::ascii_isdigit(rest[length])) {
      ++length;
    }
    if (length == 0) return error("missing unit in duration");
    const absl::string_view name = rest.substr(0, length);
    const Unit* unit = nullptr;
    for (const Unit& candidate : kUnits) {
      if (candidate.name == name) unit = &candidate;
    }
    if (unit == nullptr)
      return error(absl::StrCat("unknown unit ", QuoteAsTime(name), " in duration"));
    rest.remove_prefix(length);
    if (whole > kMaxNanos / unit->nanos) return error("invalid duration");
    // As Go: the fraction is exact to a nanosecond of the unit.
    const auto fraction = static_cast<uint64_t>(static_cast<double>(numerator) *
                                                (static_cast<double>(unit->nanos) / scale));
    total += whole * unit->nanos + fraction;
    if (total > kMaxNanos) return error("invalid duration");
  }
  const absl::Duration duration = absl::Nanoseconds(static_cast<int64_t>(total));
  return negative ? -duration : duration;
}

std::string DurationText(absl::Duration duration) {
  std::string text;
  AppendDuration(duration, text);
  return text;
}

void AppendDuration(absl::Duration duration, std::string& out) {
  const int64_t nanos = absl::ToInt64Nanoseconds(duration);
  if (nanos == 0) {
    out.append("0s");
    return;
  }
  uint64_t left = static_cast<uint64_t>(nanos);
  if (nanos < 0) {
    out.push_back('-');
    left = 0 - left;
  }
  constexpr uint64_t kSecond = 1000000000;
  if (left < kSecond) {
    if (left < 1000) {
      absl::StrAppend(&out, left, "ns");
    } else if (left < 1000000) {
      AppendFraction(left, 1000, out);
      out.append("µs");
    } else {
      AppendFraction(left, 1000000, out);
      out.append("ms");
    }
    return;
  }
  const uint64_t hours = left / (3600 * kSecond);
  const uint64_t minutes = left / (60 * kSecond) % 60;
  if (hours > 0) absl::StrAppend(&out, hours, "h");
  if (hours > 0 || minutes > 0) absl::StrAppend(&out, minutes, "m");
  AppendFraction(left % (60 * kSecond), kSecond, out);
  out.push_back('s');
}

double ToSeconds(absl::Duration duration) {
  const int64_t nanos = absl::ToInt64Nanoseconds(duration);
  constexpr int64_t kSecond = 1'000'000'000;
  return static_cast<double>(nanos / kSecond) + static_cast<double>(nanos % kSecond) / 1e9;
}

}  // namespace flyball::go
