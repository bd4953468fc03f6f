// Kubernetes resource quantities: `1500m`, `2Gi`, `1e3`.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 pkg/api/resource; replayed by
// test/data/kube/quantity.tsv. The value is held exactly (at most nano precision, any size).
// Differs: a text longer than kMaxTextBytes and an exponent beyond ±kMaxExponent are errors
// (upstream computes 10^exponent), and a DecimalSI value of 1000E or more keeps its `E` (upstream
// drops it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

class Quantity {
 public:
  static constexpr size_t kMaxTextBytes = 1024;
  static constexpr int64_t kMaxExponent = 2'000'000'000;

  enum class Format { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity() = default;  // 0, decimal SI

  // A whole number of thousandths.
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSI);

  // kInvalidArgument with upstream's text for anything outside the grammar.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // Thousandths, rounded up away from zero. Out of int64 range wraps exactly as upstream's
  // MilliValue does; its slip of rounding negative values of over 18 digits toward zero, or past
  // it, is kept too.
  int64_t MilliValue() const;
  // Units, rounded up away from zero.
  int64_t Value() const;
  // The double that is nearest; infinite beyond the largest. Upstream's AsApproximateFloat64 may be
  // another one in the last places.
  double ToDouble() const;

  // -1, 0, 1; and ordering by value.
  int Sign() const;
  int Compare(const Quantity& other) const;

  // The sum, exact. The format is the first's unless that one is 0. A sum of more than 18 digits
  // that mixes signs is rounded to thousandths.
  Quantity Plus(const Quantity& other) const;

  // Canonical form, as Go's Quantity.String() of a value that did not come from text (never the
  // text as typed).
  std::string ToString() const;

  Format format() const { return format_; }

 private:
  // Upstream holds what fits 18 digits as an int64 with a scale and the rest as an arbitrary
  // decimal; the two overflow differently, so both forms are kept:
  //   narrow: value_ × 10^scale_              (wide_digits_ is empty)
  //   wide:   ±wide_digits_ × 10^scale_, the sign in value_ (-1, 1), nothing below 10^-9
  int64_t value_ = 0;
  int32_t scale_ = 0;
  Format format_ = Format::kDecimalSI;
  bool capped_ = false;      // a wide value cut to ±(2^63-1)
  std::string wide_digits_;  // most significant first, no leading zeros

  friend class QuantityParser;
  bool wide() const { return !wide_digits_.empty(); }
  int64_t ScaledValue(int decimals) const;
  int64_t WideScaledValue(int decimals) const;
  std::string Digits() const;
  std::string DecimalText() const;
  bool FitsBinary(int64_t* whole) const;
};

}  // namespace flyball::kube
