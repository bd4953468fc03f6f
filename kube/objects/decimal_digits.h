// Whole numbers of any size as decimal digits, most significant first, without leading zeros; zero
// is the empty string.
//
// Pure. The work of each function grows linearly with the digits that it is given.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball::kube {

void StripLeadingZeros(std::string& digits);

// digits × factor; factor is below 2^27.
void TimesSmall(std::string& digits, int factor);

// Divides by a divisor below 2^27 and returns the remainder.
int DivideBySmall(std::string& digits, int divisor);

// digits × 10^scale with nothing below 10^lowest, rounded up. `digits` is not zero.
void RoundUpTo(std::string& digits, int64_t& scale, int lowest);

// Compares a × 10^a_scale with b × 10^b_scale; neither is zero.
int CompareMagnitude(absl::string_view a, int64_t a_scale, absl::string_view b, int64_t b_scale);

std::string AddDigits(std::string a, std::string b);

// a - b; b is not above a.
std::string SubtractDigits(std::string a, absl::string_view b);

// The low 64 bits of digits × 10^zeros.
uint64_t Low64(absl::string_view digits, int64_t zeros);

}  // namespace flyball::kube
