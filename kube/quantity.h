// Kubernetes resource quantities: `1500m`, `2Gi`, `1e3`.
//
// Pure. Source: k8s.io/apimachinery v0.34.4 pkg/api/resource. The value is held exactly (Kubernetes
// keeps at most nano precision and falls back to arbitrary size); conversions round up, away from
// zero, as upstream's do.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::kube {

class Quantity {
 public:
  enum class Format { kDecimalSI, kBinarySI, kDecimalExponent };

  Quantity() = default;  // 0, decimal SI

  // A whole number of thousandths.
  static Quantity FromMilli(int64_t milli, Format format = Format::kDecimalSI);

  // kInvalidArgument with upstream's text for anything outside the grammar.
  static absl::StatusOr<Quantity> Parse(absl::string_view text);

  // Thousandths, rounded up away from zero. Out of int64 range wraps exactly as upstream's
  // MilliValue does.
  int64_t MilliValue() const;
  // Units, rounded up away from zero.
  int64_t Value() const;

  // -1, 0, 1; and ordering by value.
  int Sign() const;
  int Compare(const Quantity& other) const;

  // Canonical form, as Go's Quantity.String() of a value that did not come from text (never the
  // text as typed).
  std::string ToString() const;

  Format format() const { return format_; }

 private:
  // value = mantissa_ × 10^exponent_ exactly; __int128 holds every value that nano precision and
  // the cap allow.
  __extension__ typedef __int128 Int128;
  Int128 mantissa_ = 0;
  int32_t exponent_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace flyball::kube
