// Numeric constants as Go reads them.
//
// Pure. Source: Go's strconv.ParseInt, ParseUint, ParseFloat and ParseBool, and
// text/template/parse.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <variant>

#include "absl/strings/string_view.h"

namespace flyball::go {

// The value has one of the three types; which one follows from how it was written.
struct Number {
  std::variant<int64_t, double, std::complex<double>> value;
  // It fits a uint64 only, whose bits the int64 has: an error when it is used.
  bool overflows_int = false;
};

// `12`, `-0x1F`, `0b11`, `0o17`, `017`, `1_000`, `1.5e3`, `1+2i`. nullopt: not a number, or an
// integer that does not fit 64 bits.
std::optional<Number> ParseNumber(absl::string_view text);
// Does the same for an int64 only: strconv.ParseInt with base 0.
std::optional<int64_t> ParseInt(absl::string_view text);

// strconv.ParseInt with base 10: digits behind at most one sign. nullopt also when it does not fit.
std::optional<int64_t> ParseDecimal(absl::string_view text);
std::optional<int32_t> ParseDecimal32(absl::string_view text);

// strconv.ParseFloat of 64 bits: `1.5e3`, `0x1p-2`, `inf`, `-Infinity`, `nan`. nullopt also when it
// is too large.
std::optional<double> ParseFloat(absl::string_view text);

// strconv.ParseBool: 1, t, T, TRUE, true, True and their opposites.
std::optional<bool> ParseBool(absl::string_view text);

}  // namespace flyball::go
