// Second stage of the template language: tokens to tree.
//
// Pure. Source: Go's text/template/parse. Actions nested deeper than kMaxNesting are refused.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rules/template/tree.h"

namespace flyball::rules::tmpl {

inline constexpr int kMaxNesting = 100;

// `name` is the template's own name: a `define` of that name collides with it. kInvalidArgument: a
// message that begins with `line:column` in the template.
absl::StatusOr<Tree> Parse(absl::string_view text, absl::string_view name);

}  // namespace flyball::rules::tmpl
