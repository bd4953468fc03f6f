#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/go/number.h"
#include "kube/objects/decimal_digits.h"
#include "kube/objects/quantity.h"

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
  const std::optional<int64_t> exponent = go::ParseDecimal(text.substr(1));
  if (!exponent || *exponent > Quantity::kMaxExponent || *exponent < -Quantity::kMaxExponent) {
    return std::nullopt;
  }
  return Suffix{Format::kDecimalExponent, static_cast<int32_t>(*exponent)};
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
    quantity.wide_ = true;
    quantity.dec_scale_ = static_cast<int32_t>(-scale);
    if (digits.empty()) return quantity;
    RoundUpTo(digits, scale, kNano);
    quantity.dec_scale_ = -kNano;
    if (binary && CompareMagnitude(digits, scale, absl::StrCat(kMax64), 0) > 0) {
      digits = absl::StrCat(kMax64);
      scale = 0;
      quantity.dec_scale_ = 0;
    }
    if (binary && CompareMagnitude(digits, scale, "1", 0) < 0) {
      quantity.format_ = Quantity::Format::kDecimalSI;
    }
    quantity.value_ = negative_ ? -1 : 1;
    quantity.scale_ = static_cast<int32_t>(scale);
    quantity.digits_ = std::move(digits);
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

}  // namespace flyball::kube
