// The type rules of PromQL, applied to a whole tree after it was read without error.
//
// Pure. Source: Prometheus 2.42.0 promql/parser/parse.go. Completes the tree on its way: set
// operators are many-to-many.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "promql/ast.h"

namespace flyball::promql {

struct TypeError {
  size_t at = 0;  // byte offset in the query
  std::string text;
};

// The first violation in reading order of the tree, innermost first.
std::optional<TypeError> CheckTypes(Expr* expr);

}  // namespace flyball::promql
