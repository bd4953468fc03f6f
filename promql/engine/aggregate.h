// sum, avg, topk and the other aggregations of one instant vector.
//
// Pure. Source: Prometheus 3.15.0 promql/engine.go.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "promql/ast.h"
#include "promql/engine/value.h"

namespace flyball::promql {

// The value of the first argument, for those that take one.
struct AggregationParam {
  double number = 0;  // k, or the quantile
  std::string label;  // of count_values
};

// Groups in the order of their first element; topk and bottomk: best first within a group.
//   kFailedPrecondition  k that no integer holds, or a bad label name
absl::StatusOr<Vector> Aggregate(const Aggregation& aggregation, const AggregationParam& param,
                                 Vector vector);

}  // namespace flyball::promql
