// Numbers in exposition texts.
//
// Pure. Source: Go's strconv.ParseFloat and FormatFloat, and what Prometheus 3.15.0
// (model/textparse) accepts of the former.
#pragma once

#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace flyball::formats {

// The bits of every NaN but the staleness marker: 0x7ff8000000000001.
double NormalNan();

// `1`, `-1.5e3`, `.5`, `+Inf`, `infinity`, `nan` in any case; NaN is NormalNan. nullopt: anything
// else, including hexadecimal numbers, `_` between digits and what is too large for a double.
std::optional<double> ParseValue(absl::string_view text);

// The shortest decimal for `le` and `quantile`, always with a fraction or an exponent: `1.0`,
// `0.05`, `1e+06`, `+Inf`.
std::string FormatBound(double bound);

}  // namespace flyball::formats
