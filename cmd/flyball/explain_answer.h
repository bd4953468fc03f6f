// What `flyball explain` prints of the answers of /debug/decisions. Pure.
//
// Errors of all of these:
//   kInvalidArgument  the server's complaint, or no answer of this kind
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::cmd {

// The newest decision in full, the earlier ones in a line each; `all`: every one in full.
//   kNotFound  the server knows none; the message says who answered
absl::StatusOr<std::string> ExplainAnswer(absl::string_view json, bool all);

// For an answer that is asked for again and again: the decisions that came after the one that was
// first made at `after`, oldest first, each below its time; from InfinitePast on the newest alone.
// `after` becomes the time of the newest.
absl::StatusOr<std::string> NewDecisions(absl::string_view json, absl::Time& after);

// Of --shadow-report: a line for each object whose decisions were compared, the different ones
// first, then what the last differences were.
absl::StatusOr<std::string> ShadowAnswer(absl::string_view json);

// The end of "nothing was decided of it": what may have been meant, out of the replicas' lists of
// all autoscalers. Lists that are no answers count as empty.
std::string DecidedNearby(const std::vector<std::string>& lists, const std::string& ns,
                          const std::string& name);

}  // namespace flyball::cmd
