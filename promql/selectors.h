// The selectors of an expression: all that it reads of a store.
//
// Pure.
#pragma once

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "promql/ast.h"
#include "promql/matcher.h"

namespace flyball::promql {

// In the order in which they are written. They belong to the expression.
void ForEachSelector(const Expr& expr, absl::FunctionRef<void(const Selector&)> see);

// `{__name__="x",pod="a"}`.
std::string SelectorText(const std::vector<Matcher>& matchers);

}  // namespace flyball::promql
