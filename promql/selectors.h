// The selectors of an expression: all that it reads of a store.
//
// Pure.
#pragma once

#include "absl/functional/function_ref.h"
#include "promql/ast.h"

namespace flyball::promql {

// In the order in which they are written. They belong to the expression.
void ForEachSelector(const Expr& expr, absl::FunctionRef<void(const Selector&)> see);

}  // namespace flyball::promql
