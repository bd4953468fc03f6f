// The built-in functions of the template language.
//
// Pure. Source: Go's text/template/funcs.go. `and` and `or` are known here but evaluated by
// evaluator.cc, which alone can leave an argument unevaluated. `call` always fails: no value of
// these templates is a function.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "rules/template/value.h"

namespace flyball::rules::tmpl {

bool IsFunction(absl::string_view name);

// kInvalidArgument: wrong number or type of arguments.
absl::StatusOr<Value> CallFunction(absl::string_view name, absl::Span<const Value> arguments);

}  // namespace flyball::rules::tmpl
