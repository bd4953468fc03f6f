// Numeric constants of the template language.
//
// Pure. Source: Go's strconv.ParseInt, ParseUint and ParseFloat with base 0, and
// text/template/parse.
#pragma once

#include <optional>

#include "absl/strings/string_view.h"
#include "rules/template/tree.h"

namespace flyball::rules::tmpl {

// nullopt: not a number, or an integer that does not fit 64 bits.
std::optional<Number> ParseNumber(absl::string_view text);

}  // namespace flyball::rules::tmpl
