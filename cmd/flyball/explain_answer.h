// The texts that `flyball explain` prints for answers of /debug/decisions. Pure.
//
// Error of all functions here:
//   kInvalidArgument  the answer is the server's error message, or of another kind
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::cmd {

// The newest decision in full, and each earlier one in a line; with `all` each one in full.
//   kNotFound  the server knows none; the message says which replica answered
absl::StatusOr<std::string> ExplainAnswer(absl::string_view json, bool all);

// For repeated questions: the decisions that are newer than the one first made at `after`, oldest
// first, each below its time; only the newest one if `after` is InfinitePast. Sets `after` to the
// time of the newest.
absl::StatusOr<std::string> NewDecisions(absl::string_view json, absl::Time& after);

// For --shadow-report: a line for each object whose decisions were compared, those with differences
// first, and then the last differences.
absl::StatusOr<std::string> ShadowAnswer(absl::string_view json);

// The end of the message that nothing was decided for an object: a suggestion which one may have
// been meant, from the replicas' lists of all autoscalers. Invalid lists count as empty.
std::string DecidedNearby(const std::vector<std::string>& lists, const std::string& ns,
                          const std::string& name);

}  // namespace flyball::cmd
