// Evaluates a parsed PromQL expression over samples in memory.
//
// Pure: time is an argument, the store is only read; safe on any thread while nobody writes the
// store.
//
// Source: Prometheus 3.15.0 promql/engine.go.
// Limit:  the points that one query touches, which bounds both memory and work.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "promql/ast.h"
#include "promql/engine/series.h"
#include "promql/engine/value.h"

namespace flyball::promql {

inline constexpr int64_t kMaxPoints = 50'000'000;

//   kFailedPrecondition  the query fails on these samples ("execution" in Prometheus's API)
//   kResourceExhausted   it touches more than max_points
absl::StatusOr<Value> EvalInstant(const Expr& expr, const SeriesReader& store, int64_t time_ms,
                                  int64_t max_points = kMaxPoints);

}  // namespace flyball::promql
