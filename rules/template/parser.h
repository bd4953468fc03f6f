// Second stage of the template language: tokens -> tree.
//
// Pure. Source: Go's text/template/parse. Actions nested deeper than kMaxNesting are refused.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "rules/template/tree.h"

namespace flyball::rules::tmpl {

inline constexpr int kMaxNesting = 100;

// `name` is what the template calls itself: a `define` of that name collides with it.
// kInvalidArgument: a message with `line:column` of the template in front.
absl::StatusOr<Tree> Parse(absl::string_view text, absl::string_view name);

}  // namespace flyball::rules::tmpl
