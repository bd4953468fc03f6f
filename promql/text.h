// Numbers, durations and strings as PromQL and the Prometheus API write them.
//
// Pure. Source: Prometheus 2.42.0 promql/parser, util/jsonutil; Go's strconv, whose shortest
// decimals these are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/labels.h"

namespace flyball::promql {

// Shortest decimal that reads back as the same double: `0.1`, `1e-07`, `1e+21`, `NaN`, `+Inf`,
// `-0`. With an exponent below 1e-6 and from 1e21 on, as in the API's answers.
std::string FormatValue(double value);
// The same digits, never with an exponent: what count_values makes a label of.
std::string FormatPlain(double value);
// Go's %v: with an exponent below 1e-4 and from 1e21 on. For error texts.
std::string FormatShort(double value);

// A number literal: a Go integer with base prefix (`010` is 8, `0x1F`), else a float; `_` between
// digits is allowed. The error is Go's text.
absl::StatusOr<double> ParseNumber(absl::string_view text);
// The value of an `le` label as Go's ParseFloat reads it; hexadecimal floats included.
std::optional<double> ParseBound(absl::string_view text);

// `1h30m` in milliseconds: units y w d h m s ms in falling order, each once.
//   kInvalidArgument  another form, or more than int64 nanoseconds hold (292 years)
absl::StatusOr<int64_t> ParseDurationMs(absl::string_view text);
// `1h30m`; `0s` for 0; a leading `-` for negative ones.
std::string FormatDurationMs(int64_t ms);

// Go's %q for a string: printable text kept, the rest escaped. Bytes that are not UTF-8 as \xhh.
std::string Quote(absl::string_view text);
// A literal with its quotes, '…', "…" or `…`.
absl::StatusOr<std::string> Unquote(absl::string_view literal);

// `{a="b", c="d"}`, the name in front: as error texts show a series.
std::string FormatLabels(const Labels& labels);
std::string FormatLabels(const LabelSet& labels);

// `[A-Za-z_][A-Za-z0-9_]*`; with `:` allowed for a metric's name.
bool IsIdentifier(absl::string_view text, bool colon_allowed);

}  // namespace flyball::promql
