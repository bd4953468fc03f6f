// The table of PromQL functions that are supported, with their arguments.
//
// A constant table; engine/functions.h has their computations. Source: Prometheus 2.42.0
// promql/parser/functions.go, with first_over_time and the newer name of holt_winters from 3.15.0.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "promql/ast.h"

namespace flyball::promql {

struct Function {
  absl::string_view name;
  std::vector<ValueType> args;
  ValueType returns = ValueType::kVector;
  int optional = 0;       // how many of the last args may be omitted
  bool repeated = false;  // the last arg may be repeated, or omitted
  // Each sample that it returns comes from one series alone and has its labels, except for the
  // name. The histogram functions join series, but only those that differ in nothing but `le`. Only
  // set where this is certain: rules/query_shape.h relies on it.
  bool by_series = false;
};

// nullptr: no such function.
const Function* FindFunction(absl::string_view name);

// Whether Prometheus has this function although this subset does not.
bool IsKnownElsewhere(absl::string_view name);

}  // namespace flyball::promql
