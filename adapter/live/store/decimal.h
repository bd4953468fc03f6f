// Doubles that are decimals of few digits, as integers: 12.5 is 125 with the exponent 1.
//
// Pure; safe on any thread. Most values of metrics have few decimals, and such integers differ by
// little from sample to sample where the bits of the doubles differ everywhere. The way back is one
// division of two exact doubles, which IEEE 754 rounds to the double nearest to the decimal, which
// is the original one.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "absl/base/casts.h"

namespace flyball::live {

inline constexpr int kMaxDecimals = 14;
inline constexpr std::array<double, kMaxDecimals + 1> kPowersOfTen = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};

// `decimals` is at most kMaxDecimals.
inline double FromDecimal(int64_t digits, int decimals) {
  return static_cast<double>(digits) / kPowersOfTen[static_cast<size_t>(decimals)];
}

// False where no integer below 2^53 gives exactly this double back: also for -0, NaN and infinity.
inline bool ToDecimal(double value, int decimals, int64_t* digits) {
  const double scaled = value * kPowersOfTen[static_cast<size_t>(decimals)];
  if (!(std::fabs(scaled) < 0x1p53)) return false;
  *digits = static_cast<int64_t>(scaled + std::copysign(0.5, scaled));
  return absl::bit_cast<uint64_t>(FromDecimal(*digits, decimals)) ==
         absl::bit_cast<uint64_t>(value);
}

}  // namespace flyball::live
