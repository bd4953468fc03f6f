// Go's time.Duration as text.
//
// Pure. Values are those of int64 nanoseconds.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace flyball::go {

// time.ParseDuration: `1m30s`, `1.5h`, `-2ms`, `0`. kInvalidArgument with Go's text.
absl::StatusOr<absl::Duration> ParseDuration(absl::string_view text);

// String(): `0s`, `15s`, `1m30s`, `1.5s`, `15µs`.
void AppendDuration(absl::Duration duration, std::string& out);
std::string DurationText(absl::Duration duration);

// Seconds(), rounded as Go does it: whole seconds and the rest are added as doubles.
double ToSeconds(absl::Duration duration);

}  // namespace flyball::go
