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

namespace flyball::promql {

// Limits: the length of the text, and nesting, so that no query can exhaust the stack.
inline constexpr size_t kMaxQueryBytes = size_t{1} << 20;
inline constexpr int kMaxNesting = 250;

// The first error only, as `line:column: parse error: text`, both counted from 1, columns in bytes:
//   kInvalidArgument  not PromQL, or its types do not fit
//   kUnimplemented    PromQL outside the subset, named in the text
absl::StatusOr<ExprPtr> Parse(absl::string_view query, Dialect dialect = Dialect::k3);

// `{a="b"}` or `name{…}` alone, as match[] of the series API takes it.
absl::StatusOr<Selector> ParseSeriesSelector(absl::string_view query,
                                             Dialect dialect = Dialect::k3);

}  // namespace flyball::promql
