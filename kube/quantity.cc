#include "kube/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/go_arithmetic.h"

namespace flyball::kube {
namespace {

constexpr int kNano = -9;
constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
// Decimal digits that always fit an int64: upstream's bound of its fast path.
constexpr int kSafeDigits = 18;

absl::Status FormatError() {
  return absl::InvalidArgumentError(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}
absl::Status NumericError() {
  return absl::InvalidArgumentError("unable to parse numeric part of quantity");
}
absl::Status SuffixError() {
  return absl::InvalidArgumentError("unable to parse quantity's suffix");
}

struct Suffix {
  Quantity::Format format;
  int32_t exponent;  // of 2 for kBinarySI, else of 10
};

std::optional<Suffix> ReadSuffix(absl::string_view text) {
  using Format = Quantity::Format;
  struct Named {
    absl::string_view text;
    Suffix suffix;
  };
  static constexpr Named kNamed[] = {
      {"", {Format::kDecimalSI, 0}},   {"n", {Format::kDecimalSI, -9}},
      {"u", {Format::kDecimalSI, -6}}, {"m", {Format::kDecimalSI, -3}},
      {"k", {Format::kDecimalSI, 3}},  {"M", {Format::kDecimalSI, 6}},
      {"G", {Format::kDecimalSI, 9}},  {"T", {Format::kDecimalSI, 12}},
      {"P", {Format::kDecimalSI, 15}}, {"E", {Format::kDecimalSI, 18}},
      {"Ki", {Format::kBinarySI, 10}}, {"Mi", {Format::kBinarySI, 20}},
      {"Gi", {Format::kBinarySI, 30}}, {"Ti", {Format::kBinarySI, 40}},
      {"Pi", {Format::kBinarySI, 50}}, {"Ei", {Format::kBinarySI, 60}},
  };
  for (const Named& named : kNamed) {
    if (text == named.text) return named.suffix;
  }
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text[0] == '+') {
    text.remove_prefix(1);
    if (absl::StartsWith(text, "-")) return std::nullopt;
  }
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (exponent > Quantity::kMaxExponent || exponent < -Quantity::kMaxExponent) return std::nullopt;
  return Suffix{Format::kDecimalExponent, static_cast<int32_t>(exponent)};
}

// A decimal number as digits, most significant first.
void TimesSmall(std::string& digits, int factor) {
  int carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    carry += (*digit - '0') * factor;
    *digit = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  if (carry > 0) digits.insert(0, absl::StrCat(carry));
}

void AddOne(std::string& digits) {
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    if (*digit != '9') {
      ++*digit;
      return;
    }
    *digit = '0';
  }
  digits.insert(0, "1");
}

void StripLeadingZeros(std::string& digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

// digits × 10^scale with nothing below 10^lowest, rounded up.
void RoundUpTo(std::string& digits, int64_t& scale, int lowest) {
  if (scale >= lowest) return;
  const auto dropped = static_cast<size_t>(lowest - scale);
  scale = lowest;
  if (dropped >= digits.size()) {
    digits = "1";
    return;
  }
  const bool exact = digits.find_last_not_of('0') < digits.size() - dropped;
  digits.resize(digits.size() - dropped);
  if (!exact) AddOne(digits);
}

// Compares digits × 10^scale of two positive numbers without leading zeros.
int CompareMagnitude(absl::string_view a, int64_t a_scale, absl::string_view b, int64_t b_scale) {
  const int64_t a_top = static_cast<int64_t>(a.size()) + a_scale;
  const int64_t b_top = static_cast<int64_t>(b.size()) + b_scale;
  if (a_top != b_top) return a_top < b_top ? -1 : 1;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const char a_digit = i < a.size() ? a[i] : '0';
    const char b_digit = i < b.size() ? b[i] : '0';
    if (a_digit != b_digit) return a_digit < b_digit ? -1 : 1;
  }
  return 0;
}

// a + b, digit by digit.
std::string AddDigits(std::string a, std::string b) {
  const size_t size = std::max(a.size(), b.size()) + 1;
  a.insert(0, size - a.size(), '0');
  b.insert(0, size - b.size(), '0');
  int carry = 0;
  for (size_t i = size; i-- > 0;) {
    carry += (a[i] - '0') + (b[i] - '0');
    a[i] = static_cast<char>('0' + carry % 10);
    carry /= 10;
  }
  StripLeadingZeros(a);
  return a;
}

// value × 10^zeros; false when it does not fit.
bool ScaleExactly(int64_t& value, int64_t zeros) {
  for (; zeros > 0; --zeros) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value)) return false;
  }
  return true;
}

// The low 64 bits of digits × 10^zeros.
uint64_t Low64(absl::string_view digits, int64_t zeros) {
  uint64_t low = 0;
  for (const char digit : digits) low = low * 10 + static_cast<uint64_t>(digit - '0');
  // 10^64 is a multiple of 2^64.
  for (int64_t i = 0; i < std::min<int64_t>(zeros, 64); ++i) low *= 10;
  return low;
}

// base × 10^zeros as upstream computes it: steps it has a constant for wrap, the others give 0.
int64_t ScaleUp(int64_t base, int64_t zeros) {
  switch (zeros) {
    case 0:
      return base;
    case 1:
    case 2:
    case 3:
    case 6:
    case 9: {
      if (base == std::numeric_limits<int64_t>::min()) return 0;
      for (int64_t i = 0; i < zeros; ++i) base = WrapMul(base, 10);
      return base;
    }
    default:
      for (int64_t i = 0; i < zeros && base != 0; ++i) {
        if (__builtin_mul_overflow(base, int64_t{10}, &base)) return 0;
      }
      return base;
  }
}

// base / 10^zeros, rounded up away from zero.
int64_t ScaleDown(int64_t base, int64_t zeros) {
  bool fraction = false;
  int64_t value = base;
  for (int64_t i = 0; i < zeros && (value != 0); ++i) {
    fraction = fraction || value % 10 != 0;
    value /= 10;
  }
  if (!fraction) return value;
  return base > 0 ? value + 1 : value - 1;
}

}  // namespace

// The pieces of a quantity's text.
class QuantityParser {
 public:
  explicit QuantityParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Quantity> Parse() {
    if (text_.empty() || text_.size() > Quantity::kMaxTextBytes || !Split()) return FormatError();
    const std::optional<Suffix> suffix = ReadSuffix(suffix_);
    if (!suffix.has_value()) return SuffixError();
    if (std::optional<Quantity> narrow = Narrow(*suffix)) return *std::move(narrow);
    return Wide(*suffix);
  }

 private:
  void TakeDigits(absl::string_view* digits) {
    const size_t start = pos_;
    while (pos_ < text_.size() && absl::ascii_isdigit(text_[pos_])) ++pos_;
    *digits = text_.substr(start, pos_ - start);
  }

  // Cuts text_ into sign, whole_, fraction_ and suffix_. Like upstream it lets an absent number
  // through as 0 (`m`, `+`).
  bool Split() {
    if (text_[0] == '-' || text_[0] == '+') {
      negative_ = text_[0] == '-';
      ++pos_;
    }
    while (pos_ < text_.size() && text_[pos_] == '0') {
      ++pos_;
      any_digit_ = true;
    }
    TakeDigits(&whole_);
    if (pos_ < text_.size() && text_[pos_] == '.') {
      ++pos_;
      TakeDigits(&fraction_);
    }
    any_digit_ = any_digit_ || !whole_.empty() || !fraction_.empty();
    if (whole_.empty()) whole_ = "0";
    const size_t start = pos_;
    while (pos_ < text_.size() && absl::StrContains("eEinumkKMGTP", text_[pos_])) ++pos_;
    if (pos_ < text_.size() && (text_[pos_] == '-' || text_[pos_] == '+')) ++pos_;
    while (pos_ < text_.size() && absl::ascii_isdigit(text_[pos_])) ++pos_;
    suffix_ = text_.substr(start);
    return pos_ == text_.size();
  }

  // What upstream holds as an int64.
  std::optional<Quantity> Narrow(Suffix suffix) const {
    const auto digits = static_cast<int>(whole_.size() + fraction_.size());
    int64_t factor = 1;
    int64_t scale = -static_cast<int64_t>(fraction_.size());
    int spare_digits = -1;
    if (suffix.format != Quantity::Format::kBinarySI) {
      scale += suffix.exponent;
      spare_digits = kSafeDigits - digits;
    } else if (fraction_.empty()) {
      factor = int64_t{1} << suffix.exponent;
      spare_digits = 15 - digits - suffix.exponent * 3 / 10 - 1;
    }
    if (spare_digits < 0 || scale < kNano) return std::nullopt;
    int64_t value = 0;
    for (const char digit : whole_) value = value * 10 + (digit - '0');
    for (const char digit : fraction_) value = value * 10 + (digit - '0');
    if (__builtin_mul_overflow(value, factor, &value)) return std::nullopt;
    Quantity quantity;
    quantity.value_ = negative_ ? -value : value;
    quantity.scale_ = static_cast<int32_t>(scale);
    quantity.format_ = suffix.format;
    return quantity;
  }

  absl::StatusOr<Quantity> Wide(Suffix suffix) const {
    if (!any_digit_) return NumericError();
    std::string digits = absl::StrCat(whole_, fraction_);
    int64_t scale = -static_cast<int64_t>(fraction_.size());
    const bool binary = suffix.format == Quantity::Format::kBinarySI;
    if (binary) {
      for (int i = 0; i < suffix.exponent; i += 10) TimesSmall(digits, 1024);
    } else {
      scale += suffix.exponent;
    }
    StripLeadingZeros(digits);
    Quantity quantity;
    quantity.format_ = suffix.format;
    if (digits.empty()) return quantity;
    RoundUpTo(digits, scale, kNano);
    if (binary && CompareMagnitude(digits, scale, absl::StrCat(kMax64), 0) > 0) {
      digits = absl::StrCat(kMax64);
      scale = 0;
      quantity.capped_ = true;
    }
    if (binary && CompareMagnitude(digits, scale, "1", 0) < 0) {
      quantity.format_ = Quantity::Format::kDecimalSI;
    }
    quantity.value_ = negative_ ? -1 : 1;
    quantity.scale_ = static_cast<int32_t>(scale);
    quantity.wide_digits_ = std::move(digits);
    return quantity;
  }

  absl::string_view text_;
  size_t pos_ = 0;
  bool negative_ = false;
  bool any_digit_ = false;
  absl::string_view whole_, fraction_, suffix_;
};

absl::StatusOr<Quantity> Quantity::Parse(absl::string_view text) {
  return QuantityParser(text).Parse();
}

Quantity Quantity::FromMilli(int64_t milli, Format format) {
  Quantity quantity;
  quantity.value_ = milli;
  quantity.scale_ = -3;
  quantity.format_ = format;
  return quantity;
}

int64_t Quantity::MilliValue() const { return ScaledValue(3); }
int64_t Quantity::Value() const { return ScaledValue(0); }

double Quantity::ToDouble() const {
  double out = 0;
  // Out of a double's range is infinite, or 0.
  (void)absl::SimpleAtod(absl::StrCat(value_ < 0 ? "-" : "", Digits(), "e", scale_), &out);
  return out;
}

int64_t Quantity::ScaledValue(int decimals) const {
  if (wide()) return WideScaledValue(decimals);
  const int64_t shift = int64_t{scale_} + decimals;
  return shift >= 0 ? ScaleUp(value_, shift) : ScaleDown(value_, -shift);
}

int64_t Quantity::WideScaledValue(int decimals) const {
  const auto sign = static_cast<uint64_t>(value_);
  if (capped_) {
    return static_cast<int64_t>(sign * Low64(wide_digits_, decimals));
  }
  // Upstream holds a whole number of nanos here and divides it by 10^dropped.
  const int dropped = -kNano - decimals;
  const int64_t zeros = int64_t{scale_} - kNano;
  const bool below_max = CompareMagnitude(wide_digits_, zeros, absl::StrCat(kMax64), 0) < 0;
  if (value_ < 0 || below_max) {
    // Its fast way: truncates, then adds one, whatever the sign and even where the low 64 bits of
    // a large negative number are all that is left.
    const auto nanos = static_cast<int64_t>(sign * Low64(wide_digits_, zeros));
    int64_t divisor = 1;
    for (int i = 0; i < dropped; ++i) divisor *= 10;
    return nanos / divisor + (nanos % divisor != 0 ? 1 : 0);
  }
  if (zeros >= dropped) return static_cast<int64_t>(Low64(wide_digits_, zeros - dropped));
  std::string digits = wide_digits_;
  int64_t scale = zeros;
  RoundUpTo(digits, scale, dropped);
  return static_cast<int64_t>(Low64(digits, 0));
}

Quantity Quantity::Plus(const Quantity& other) const {
  if (other.value_ == 0) return *this;
  if (value_ == 0) return other;
  Quantity sum = *this;
  sum.scale_ = std::min(scale_, other.scale_);
  if (!wide() && !other.wide()) {
    int64_t more = other.value_;
    if (ScaleExactly(sum.value_, int64_t{scale_} - sum.scale_) &&
        ScaleExactly(more, int64_t{other.scale_} - sum.scale_) &&
        !__builtin_add_overflow(sum.value_, more, &sum.value_)) {
      return sum;
    }
  }
  if (Sign() != other.Sign()) {
    return FromMilli(WrapAdd(MilliValue(), other.MilliValue()), format_);
  }
  sum.value_ = Sign();
  sum.capped_ = false;
  sum.wide_digits_ = AddDigits(
      Digits().append(static_cast<size_t>(int64_t{scale_} - sum.scale_), '0'),
      other.Digits().append(static_cast<size_t>(int64_t{other.scale_} - sum.scale_), '0'));
  return sum;
}

int Quantity::Sign() const { return value_ == 0 ? 0 : (value_ < 0 ? -1 : 1); }

std::string Quantity::Digits() const {
  if (wide()) return wide_digits_;
  const auto magnitude = static_cast<uint64_t>(value_);
  return absl::StrCat(value_ < 0 ? 0 - magnitude : magnitude);
}

int Quantity::Compare(const Quantity& other) const {
  if (!wide() && !other.wide() && scale_ == other.scale_) {
    return value_ == other.value_ ? 0 : (value_ < other.value_ ? -1 : 1);
  }
  if (Sign() != other.Sign() || Sign() == 0) {
    return Sign() == other.Sign() ? 0 : (Sign() < other.Sign() ? -1 : 1);
  }
  return Sign() * CompareMagnitude(Digits(), scale_, other.Digits(), other.scale_);
}

// True if the value is a whole number that the binary suffixes may show.
bool Quantity::FitsBinary(int64_t* whole) const {
  const std::string digits = Digits();
  const size_t last = digits.find_last_not_of('0');
  const auto trailing_zeros = static_cast<int64_t>(digits.size() - 1 - last);
  if (scale_ + trailing_zeros < 0) return false;
  if (CompareMagnitude(digits, scale_, "1024", 0) < 0) return false;
  if (CompareMagnitude(digits, scale_, absl::StrCat(kMax64), 0) > 0) return false;
  const std::string kept = digits.substr(0, last + 1);
  *whole = Sign() * static_cast<int64_t>(Low64(kept, scale_ + trailing_zeros));
  return true;
}

std::string Quantity::DecimalText() const {
  std::string digits = Digits();
  const size_t last = digits.find_last_not_of('0');
  int64_t exponent = scale_ + static_cast<int64_t>(digits.size() - 1 - last);
  digits.resize(last + 1);
  int64_t kept = exponent - ((exponent % 3) + 3) % 3;
  const bool suffixed = format_ != Format::kDecimalExponent;
  if (suffixed) kept = std::min<int64_t>(kept, 18);
  digits.append(static_cast<size_t>(exponent - kept), '0');
  const absl::string_view sign = value_ < 0 ? "-" : "";
  if (suffixed) {
    static constexpr std::array<absl::string_view, 10> kSuffixes = {"n", "u", "m", "",  "k",
                                                                    "M", "G", "T", "P", "E"};
    return absl::StrCat(sign, digits, kSuffixes[static_cast<size_t>(kept / 3 + 3)]);
  }
  if (kept == 0) return absl::StrCat(sign, digits);
  return absl::StrCat(sign, digits, "e", kept);
}

std::string Quantity::ToString() const {
  if (value_ == 0) return "0";
  int64_t whole = 0;
  if (format_ != Format::kBinarySI) return DecimalText();
  if (!FitsBinary(&whole)) {
    // Small or broken values are shown with decimal suffixes.
    Quantity decimal = *this;
    decimal.format_ = Format::kDecimalSI;
    return decimal.DecimalText();
  }
  static constexpr std::array<absl::string_view, 7> kSuffixes = {"",   "Ki", "Mi", "Gi",
                                                                 "Ti", "Pi", "Ei"};
  size_t power = 0;
  while (whole % 1024 == 0) {
    whole /= 1024;
    ++power;
  }
  return absl::StrCat(whole, kSuffixes[power]);
}

}  // namespace flyball::kube
