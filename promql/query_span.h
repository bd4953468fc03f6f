// PromQL whose durations know the query that they are written in: `x[2*step()] offset range()`.
//
// Pure. Source: Prometheus 3.15.0 promql/durations.go.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/ast.h"
#include "promql/dialect.h"

namespace flyball::promql {

// The values of step() and range(), in seconds. An instant query has neither.
struct QuerySpan {
  double step_seconds = 0;
  double range_seconds = 0;

  static QuerySpan Of(int64_t start_ms, int64_t end_ms, int64_t step_ms) {
    return {.step_seconds = static_cast<double>(step_ms) / 1000,
            .range_seconds = static_cast<double>(end_ms - start_ms) / 1000};
  }
};

// As Parse (parser.h), which refuses the two as kUnimplemented.
absl::StatusOr<ExprPtr> ParseFor(const QuerySpan& span, absl::string_view query, Dialect dialect);

}  // namespace flyball::promql
