// Operators between two values: scalars, vectors, sets.
//
// Pure. Source: Prometheus 3.15.0 promql/engine.go (VectorBinop, VectorAnd, …).
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "promql/ast.h"
#include "promql/engine/value.h"

namespace flyball::promql {

// A comparison gives 0 or 1.
double ScalarOperation(absl::string_view op, double lhs, double rhs);

// One operand is a scalar; `scalar_left` says which.
Vector VectorScalarOperation(const Binary& binary, Vector vector, double scalar, bool scalar_left);

//   kFailedPrecondition  the series don't pair up as the operator's clauses say
absl::StatusOr<Vector> VectorOperation(const Binary& binary, const Vector& lhs, const Vector& rhs);

}  // namespace flyball::promql
