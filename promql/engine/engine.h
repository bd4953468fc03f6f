// Evaluates a parsed PromQL expression over samples in memory.
//
// Pure: time is an argument, series are only read; safe on any thread. The samples of a selector
// are read once for all moments of the query; everything else is evaluated moment by moment.
//
// Source: Prometheus 2.42.0 and 3.15.0 promql/engine.go.
// Limit:  the points that one query reads or returns, which bounds both memory and work. Longer
//         label sets that it makes count too, and it may select as many series.
//         If many people may ask, query_memory.h bounds the memory itself.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "promql/ast.h"
#include "promql/dialect.h"
#include "promql/engine/interruption.h"
#include "promql/engine/query_memory.h"
#include "promql/engine/series.h"
#include "promql/engine/value.h"

namespace flyball::promql {

struct EvalOptions {
  Dialect dialect = Dialect::k3;     // with which the expression was parsed
  int64_t lookback_ms = 300'000;     // maximum age of a current sample
  int64_t default_step_ms = 60'000;  // of subqueries without one
  int64_t max_points = 50'000'000;
  // Counts samples, values of each step and results, against its limit. nullptr: no limit.
  QueryMemory* memory = nullptr;
  Interrupted interrupted;
};

// Errors of both:
//   kFailedPrecondition  the query fails on these samples ("execution" in Prometheus's API)
//   kResourceExhausted   it reads more than max_points, or takes more memory than it may
absl::StatusOr<Value> EvalInstant(const Expr& expr, const SeriesReader& store, int64_t time_ms,
                                  const EvalOptions& options = {});

struct Steps {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;
};

// The values at start, start + step, … up to end; series in label order. A scalar is one series
// without labels. Errors beyond those above:
//   kInvalidArgument  no step, end before start, more than 11,000 steps, or a result type that has
//                     no range form
absl::StatusOr<std::vector<Range>> EvalRange(const Expr& expr, const SeriesReader& store,
                                             const Steps& steps, const EvalOptions& options = {});

}  // namespace flyball::promql
