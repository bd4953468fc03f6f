#include "scaler/math/requests/decay.h"

#include <cmath>
#include <iterator>

namespace flyball::scaler {
namespace {

// The weight for windows longer than the table below.
constexpr double kSlowest = 0.2;

// 1 - 0.0001^(1/n) for n from 1 on, as Go computes it.
constexpr double kDecays[] = {
    0.9999,
    0.99,
    0.9535841116638721,
    0.9,
    0.8415106807538886,
    0.7845565309968116,
    0.7317304204720274,
    0.683772233983162,
    0.6406186336195372,
    0.6018928294465027,
    0.5671238718916941,
    0.535841116638722,
    0.507611736829326,
    0.4820525320768788,
    0.45883047345353634,
    0.4376586748096509,
    0.41829086706256413,
    0.40051574968105896,
    0.3841517889339736,
    0.36904265551980675,
    0.3550533228962376,
    0.342066775342432,
    0.3299812496490411,
    0.31870793094203875,
    0.3081690290810636,
    0.29829617132961717,
    0.28902905676875645,
    0.28031432699884795,
    0.27210461560168486,
    0.2643577455403586,
    0.25703604924050527,
    0.2501057906675441,
    0.24353667244537114,
    0.23730141409765548,
    0.231375389960226,
    0.2257363173188729,
    0.22036398695947668,
    0.21524002964853872,
    0.21034771315002732,
    0.2056717652757185,
    0.20119821919842973,
};

}  // namespace

double DecayOf(int64_t seconds) {
  if (seconds < 1) seconds = 1;
  return seconds <= std::ssize(kDecays) ? kDecays[seconds - 1] : kSlowest;
}

// By repeated squaring, with mantissa and exponent kept separately so that no precision is lost
// before the end.
double PowerOf(double base, int64_t times) {
  if (times == 0 || base == 1) return 1;
  if (times == 1 || base == 0) return base;
  double power = 1;
  int exponent = 0, square_exponent = 0;
  double square = std::frexp(base, &square_exponent);
  for (; times != 0; times >>= 1) {
    if (square_exponent < -(1 << 12)) return 0;
    if ((times & 1) != 0) {
      power *= square;
      exponent += square_exponent;
    }
    square *= square;
    square_exponent *= 2;
    if (square < 0.5) {
      square += square;
      --square_exponent;
    }
  }
  return std::ldexp(power, exponent);
}

}  // namespace flyball::scaler
