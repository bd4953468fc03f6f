// One record of comma-separated values as Go's encoding/csv reads it.
//
// Pure. Fields may be quoted; a quote within is written twice. Empty lines before the record are
// skipped, and what follows it is ignored.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball::go {

// kInvalidArgument: there is no record, or a quote stands where none may.
absl::StatusOr<std::vector<std::string>> ReadCsvRecord(absl::string_view text);

}  // namespace flyball::go
