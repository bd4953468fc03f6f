// What `flyball explain` prints, made of the answers of /debug/decisions. Pure.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::cmd {

// The newest decision in full, the earlier ones in a line each; `all`: every one in full.
//   kNotFound         the server knows none: who answered, and that another replica may
//   kInvalidArgument  the server's complaint, or no answer of this kind
absl::StatusOr<std::string> ExplainAnswer(absl::string_view json, bool all);

// A line for each object whose decisions were compared, the different ones first, then what the
// last differences were.
absl::StatusOr<std::string> ShadowAnswer(absl::string_view json);

}  // namespace flyball::cmd
