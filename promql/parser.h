// PromQL text to a checked syntax tree.
//
// Pure. Source: Prometheus 2.42.0 promql/parser (grammar, precedence, error texts and their
// positions), with the syntax that 3.15.0 adds.
#pragma once

#include <cstddef>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/ast.h"
#include "promql/dialect.h"
#include "promql/matcher.h"

namespace flyball::promql {

// Limits: the length of the text, checked before anything is read; nesting, so that no query can
// exhaust the stack; the matchers of a selector, which are all tested on each series; the labels
// that by, without, on, ignoring, group_left and group_right name, since group_left compares each
// with each for every series; the tokens (lexer.h) and the regular expressions (RegexRoom).
// Prometheus has only RE2's.
inline constexpr size_t kMaxQueryBytes = size_t{1} << 20;
inline constexpr int kMaxNesting = 250;
inline constexpr size_t kMaxMatchers = 64;
inline constexpr size_t kMaxNamedLabels = 256;

// The first error only, as `line:column: parse error: text`, both counted from 1, columns in bytes:
//   kInvalidArgument  not PromQL, or its types do not fit
//   kUnimplemented    PromQL outside the subset, named in the text
absl::StatusOr<ExprPtr> Parse(absl::string_view query, Dialect dialect = Dialect::k3);

// `{a="b"}` or `name{…}` alone, as in match[] of the series API. Selectors that are held together
// share a `room`; nullptr: this one has its own.
absl::StatusOr<Selector> ParseSeriesSelector(absl::string_view query, Dialect dialect = Dialect::k3,
                                             RegexRoom* room = nullptr);

}  // namespace flyball::promql
