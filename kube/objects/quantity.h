// Kubernetes resource quantities: `1500m`, `2Gi`, `1e3`.
//
// Pure. The value of a text is rounded up, away from zero, to a whole number of nanos, and from
// then on is exact, whatever its size; with a binary suffix it is capped at 2^63-1 as upstream.
//
// Source:  k8s.io/apimachinery v0.34.4 pkg/api/resource; compared with it by replaying
//          test/data/kube/quantity.jsonl and quantity_sums.jsonl.
// Differs: a text longer than kMaxTextBytes, an exponent beyond ±kMaxExponent and a sum of more
//          than kMaxSumDigits digits are errors (upstream computes 10^exponent, which takes it
//          seconds to days), and a value of 1000E or 1024Ei or more keeps its suffix (upstream
//          drops it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

class Quantity {
 public:
  static constexpr size_t kMaxTextBytes = 1024;
  static constexpr int64_t kMaxExponent = 2'000'000'000;
  static constexpr int64_t kMaxSumDigits = 2'000;

  enum class Format : uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity() = default;  // 0, decimal SI

  // A whole number of thousandths.
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSI);

  // kInvalidArgument with upstream's text for anything outside the grammar or the limits above.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // Thousandths, rounded up away from zero. Out of int64 range wraps exactly as upstream's
  // MilliValue does; its slip of rounding negative values of over 18 digits toward zero, or past
  // it, is kept too.
  int64_t MilliValue() const;
  // Units, rounded up away from zero; outside of int64 like MilliValue.
  int64_t Value() const;
  // The nearest double; infinite beyond the largest. Upstream's AsApproximateFloat64 may differ
  // from it in the last places.
  double ToDouble() const;

  // Both give -1, 0 or 1; Compare orders by value.
  int Sign() const;
  int Compare(const Quantity& other) const;
  friend bool operator==(const Quantity& a, const Quantity& b) { return a.Compare(b) == 0; }

  // The exact sum. The format is the first's unless that one is 0.
  //   kInvalidArgument  one of the two, written down to the lowest decimal place of both, has more
  //                     than kMaxSumDigits digits
  absl::StatusOr<Quantity> Plus(const Quantity& other) const;

  // Canonical form, like Go's Quantity.String() of a value that did not come from text (never the
  // text as typed).
  std::string ToString() const;

  Format format() const { return format_; }

 private:
  // Upstream holds a text of up to 18 digits, and a sum that fits, as an int64 with a scale, and
  // the rest as an arbitrary decimal (inf.Dec); the two overflow differently, so both forms are
  // kept:
  //   narrow: value_ × 10^scale_
  //   wide:   ±digits_ × 10^scale_, the sign in value_ (-1, 0, 1)
  int64_t value_ = 0;
  int32_t scale_ = 0;
  int32_t dec_scale_ = 0;  // of the wide form: upstream counts in 10^-dec_scale_
  Format format_ = Format::kDecimalSI;
  bool wide_ = false;
  std::string digits_;  // of the wide form: most significant first, no leading zeros

  friend class QuantityParser;
  int64_t ScaledValue(int decimals) const;
  int64_t WideScaledValue(int decimals) const;
  bool AddNarrow(const Quantity& other);
  absl::Status AddWide(const Quantity& other);
  int32_t DecScale() const { return wide_ ? dec_scale_ : -scale_; }
  std::string Digits() const;
  std::string BinaryText() const;
  std::string DecimalText() const;
};

}  // namespace flyball::kube
