// The table of PromQL functions that are supported, with their arguments.
//
// A constant table; what each computes is in engine/functions.h. Source:
// Prometheus 2.42.0 promql/parser/functions.go, with first_over_time and the newer name of
// holt_winters from 3.15.0.
#pragma once

#include <vector>

#include "absl/strings/string_view.h"
#include "promql/ast.h"

namespace flyball::promql {

struct Function {
  absl::string_view name;
  std::vector<ValueType> args;
  ValueType returns = ValueType::kVector;
  int optional = 0;       // how many of the last args may be left out
  bool repeated = false;  // the last arg may come any number of times, or not at all
  // Each sample that it gives comes of one series alone and has its labels, the name apart. The
  // histogram functions join series, but only those that differ in nothing but `le`. Only
  // set where it is known to be so: rules/query_shape.h builds on it.
  bool by_series = false;
};

// nullptr: no such function.
const Function* FindFunction(absl::string_view name);

// True for functions that Prometheus has and this subset has not.
bool IsKnownElsewhere(absl::string_view name);

}  // namespace flyball::promql
