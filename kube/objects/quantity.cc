#include "kube/objects/quantity.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/go/arithmetic.h"
#include "kube/objects/decimal_digits.h"

namespace flyball::kube {
namespace {

// value × 10^zeros; false when it does not fit.
bool ScaleExactly(int64_t& value, int64_t zeros) {
  for (; zeros > 0; --zeros) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value)) return false;
  }
  return true;
}

// int64(math.Pow10(n)) of Go on amd64.
int64_t GoPow10(int64_t n) {
  if (n > 18) return std::numeric_limits<int64_t>::min();
  int64_t power = 1;
  for (; n > 0; --n) power *= 10;
  return power;
}

// base × 10^zeros as upstream computes it: if it has a constant for 10^zeros the product wraps,
// otherwise one that does not fit is 0.
int64_t ScaleUp(int64_t base, int64_t zeros) {
  if (zeros == 0) return base;
  if (zeros <= 3 || zeros == 6 || zeros == 9) {
    if (base == std::numeric_limits<int64_t>::min()) return 0;
    for (int64_t i = 0; i < zeros; ++i) base = WrapMul(base, 10);
    return base;
  }
  for (int64_t i = 0; i < zeros && base != 0; ++i) {
    if (__builtin_mul_overflow(base, int64_t{10}, &base)) return 0;
  }
  return base;
}

// -1, 0 or 1.
int Order(int64_t a, int64_t b) { return (a > b) - (a < b); }

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
  if (wide_) return WideScaledValue(decimals);
  const int64_t shift = int64_t{scale_} + decimals;
  return shift >= 0 ? ScaleUp(value_, shift) : ScaleDown(value_, -shift);
}

// Upstream stores `unscaled`, a whole number, and computes from it.
int64_t Quantity::WideScaledValue(int decimals) const {
  const int64_t dropped = int64_t{dec_scale_} - decimals;
  const int64_t zeros = int64_t{scale_} + dec_scale_;
  const auto low64 = [this](absl::string_view digits, int64_t zeros) {
    return static_cast<int64_t>(static_cast<uint64_t>(value_) * Low64(digits, zeros));
  };
  const int64_t unscaled = low64(digits_, zeros);
  if (value_ == 0) return 0;
  if (dropped <= 0) return WrapMul(unscaled, GoPow10(-dropped));
  const bool below_max =
      value_ < 0 ||
      CompareMagnitude(digits_, zeros, absl::StrCat(std::numeric_limits<int64_t>::max()), 0) < 0;
  if (below_max && dropped < 19) {
    // Upstream's fast path truncates, then adds one, whatever the sign, and even if only the low 64
    // bits of a large negative number are left.
    const int64_t divisor = GoPow10(dropped);
    return unscaled / divisor + (unscaled % divisor != 0 ? 1 : 0);
  }
  if (zeros >= dropped) return low64(digits_, zeros - dropped);
  const absl::string_view digits = digits_;
  const size_t cut = std::min(digits.size(), static_cast<size_t>(dropped - zeros));
  const bool exact = digits.find_last_not_of('0') < digits.size() - cut;
  const int64_t whole = low64(digits.substr(0, digits.size() - cut), 0);
  return exact || value_ < 0 ? whole : WrapAdd(whole, 1);
}

absl::StatusOr<Quantity> Quantity::Plus(const Quantity& other) const {
  Quantity sum = *this;
  if (value_ == 0) sum.format_ = other.format_;
  if (!wide_ && !other.wide_ && sum.AddNarrow(other)) return sum;
  if (absl::Status status = sum.AddWide(other); !status.ok()) return status;
  return sum;
}

// False, and nothing changes, when an int64 does not hold the sum.
bool Quantity::AddNarrow(const Quantity& other) {
  if (other.value_ == 0) return true;
  if (value_ == 0) {
    value_ = other.value_;
    scale_ = other.scale_;
    return true;
  }
  const int32_t lowest = std::min(scale_, other.scale_);
  int64_t mine = value_;
  int64_t others = other.value_;
  if (!ScaleExactly(mine, int64_t{scale_} - lowest) ||
      !ScaleExactly(others, int64_t{other.scale_} - lowest) ||
      __builtin_add_overflow(mine, others, &mine)) {
    return false;
  }
  value_ = mine;
  scale_ = lowest;
  return true;
}

absl::Status Quantity::AddWide(const Quantity& other) {
  dec_scale_ = std::max(DecScale(), other.DecScale());
  digits_ = Digits();
  wide_ = true;
  const int sign = Sign();
  value_ = sign;
  std::string others = other.Digits();
  if (other.value_ == 0) return absl::OkStatus();
  if (sign == 0) {
    scale_ = other.scale_;
    digits_ = std::move(others);
    value_ = other.Sign();
    return absl::OkStatus();
  }
  const int32_t lowest = std::min(scale_, other.scale_);
  const int64_t zeros = int64_t{scale_} - lowest;
  const int64_t others_zeros = int64_t{other.scale_} - lowest;
  if (static_cast<int64_t>(digits_.size()) + zeros > kMaxSumDigits ||
      static_cast<int64_t>(others.size()) + others_zeros > kMaxSumDigits) {
    return absl::InvalidArgumentError(
        absl::StrCat("a sum of quantities has more than ", kMaxSumDigits, " digits"));
  }
  digits_.append(static_cast<size_t>(zeros), '0');
  others.append(static_cast<size_t>(others_zeros), '0');
  scale_ = lowest;
  if (sign == other.Sign()) {
    digits_ = AddDigits(std::move(digits_), std::move(others));
    return absl::OkStatus();
  }
  const int order = CompareMagnitude(digits_, 0, others, 0);
  value_ = sign * order;
  digits_ = order < 0 ? SubtractDigits(std::move(others), digits_)
                      : SubtractDigits(std::move(digits_), others);
  return absl::OkStatus();
}

int Quantity::Sign() const { return Order(value_, 0); }

std::string Quantity::Digits() const {
  if (wide_) return digits_;
  if (value_ == 0) return "";
  const auto magnitude = static_cast<uint64_t>(value_);
  return absl::StrCat(value_ < 0 ? 0 - magnitude : magnitude);
}

int Quantity::Compare(const Quantity& other) const {
  if (!wide_ && !other.wide_ && scale_ == other.scale_) return Order(value_, other.value_);
  if (Sign() != other.Sign() || Sign() == 0) return Order(Sign(), other.Sign());
  return Sign() * CompareMagnitude(Digits(), scale_, other.Digits(), other.scale_);
}

// "" for what the binary suffixes do not show: less than 1024, and fractions.
std::string Quantity::BinaryText() const {
  std::string digits = Digits();
  const auto fraction = static_cast<size_t>(std::max(0, -scale_));
  if (CompareMagnitude(digits, scale_, "1024", 0) < 0) return "";
  if (digits.find_last_not_of('0') >= digits.size() - fraction) return "";
  digits.resize(digits.size() - fraction);
  digits.append(static_cast<size_t>(std::max(0, scale_)), '0');
  static constexpr std::array<absl::string_view, 7> kSuffixes = {"",   "Ki", "Mi", "Gi",
                                                                 "Ti", "Pi", "Ei"};
  size_t power = 0;
  for (std::string less = digits; power + 1 < kSuffixes.size(); ++power) {
    if (DivideBySmall(less, 1024) != 0) break;
    digits = less;
  }
  return absl::StrCat(value_ < 0 ? "-" : "", digits, kSuffixes[power]);
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
  if (format_ == Format::kBinarySI) {
    if (std::string text = BinaryText(); !text.empty()) return text;
  }
  return DecimalText();
}

}  // namespace flyball::kube
