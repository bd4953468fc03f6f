// The computations of PromQL's operators: those between two values (binary.cc), and sum, avg, topk
// and the other aggregations of one instant vector (aggregate.cc).
//
// Pure. Source: Prometheus 2.42.0 and 3.15.0 promql/engine.go (VectorBinop, VectorAnd, …).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/ast.h"
#include "promql/dialect.h"
#include "promql/engine/interruption.h"
#include "promql/engine/query_memory.h"
#include "promql/engine/value.h"

namespace flyball::promql {

// A comparison gives 0 or 1.
double ScalarOperation(absl::string_view op, double lhs, double rhs);

// One operand is a scalar; `scalar_left` says which.
Vector VectorScalarOperation(const Binary& binary, Vector vector, double scalar, bool scalar_left,
                             Dialect dialect);

// Errors beyond those of `work`:
//   kFailedPrecondition  the series do not match as the operator's clauses require
//   kResourceExhausted   the limit of `memory` is reached
absl::StatusOr<Vector> VectorOperation(const Binary& binary, const Vector& lhs, const Vector& rhs,
                                       Dialect dialect, WorkMeter& work, QueryMemory& memory);

// The value of an aggregation's first argument, for those that take one.
struct AggregationParam {
  double number = 0;  // k, or the quantile
  std::string label;  // of count_values
};

// Groups are in the order of their first element; topk and bottomk: best first within a group.
// Errors beyond those of `work`:
//   kFailedPrecondition  k is no int64, or a bad label name
//   kResourceExhausted   the limit of `memory` is reached
absl::StatusOr<Vector> Aggregate(const Aggregation& aggregation, const AggregationParam& param,
                                 Dialect dialect, WorkMeter& work, QueryMemory& memory,
                                 Vector vector);

}  // namespace flyball::promql
