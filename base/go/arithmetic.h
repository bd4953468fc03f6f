// Integer conversions and sums as Go does them on amd64, where C++ leaves them undefined; Go's
// maximum and minimum of doubles.
//
// Pure. Source: the Go specification and the amd64 code generator (CVTTSD2SQ): a double outside the
// integer type, NaN included, becomes the type's smallest value.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace flyball {

// int64(x) of Go on amd64: cut toward zero; NaN, infinities and anything out of range give
// INT64_MIN.
constexpr int64_t GoInt64(double x) {
  // 2^63 is exact as a double; the comparison is false for NaN.
  if (x >= -9223372036854775808.0 && x < 9223372036854775808.0) return static_cast<int64_t>(x);
  return std::numeric_limits<int64_t>::min();
}

// int32(x) of Go on amd64: CVTTSD2SL. NaN, infinities and anything out of range give INT32_MIN.
constexpr int32_t GoInt32(double x) {
  if (x > -2147483649.0 && x < 2147483648.0) return static_cast<int32_t>(x);
  return std::numeric_limits<int32_t>::min();
}

// The low 32 bits of x, as Go's int32(x) of an int64.
constexpr int32_t GoNarrow32(int64_t x) { return static_cast<int32_t>(static_cast<uint32_t>(x)); }

// math.Max and math.Min: NaN if either is, unless the other one is the infinity that decides; the
// negative zero is the lesser one.
inline double GoMax(double a, double b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a == kInfinity || b == kInfinity) return kInfinity;
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  if (a == 0 && b == 0) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
inline double GoMin(double a, double b) { return -GoMax(-a, -b); }

// Two's complement sums and products: they wrap.
constexpr int64_t WrapAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrapSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
constexpr int64_t WrapMul(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
constexpr int32_t WrapAdd32(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
constexpr int32_t WrapSub32(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}

// a / b cut toward zero; INT64_MIN / -1 wraps to INT64_MIN. b must not be 0 (Go panics there).
constexpr int64_t GoDiv(int64_t a, int64_t b) { return b == -1 ? WrapSub(0, a) : a / b; }

}  // namespace flyball
