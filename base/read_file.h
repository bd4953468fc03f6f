// A whole file as bytes, also of /proc, a FIFO, or "-" where the caller wants standard input.
//
// Does I/O. Never throws: std::ifstream does, when a folder is read through its buffer.
// Error: `PATH: cannot be read: REASON`, by the system's own reason (kNotFound when nothing is
// there, else kInvalidArgument), or `PATH: larger than N bytes`.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace flyball {

constexpr size_t kMaxFileBytes = 64u << 20;

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes = kMaxFileBytes);

// Does the same; "-" is standard input.
absl::StatusOr<std::string> ReadFileOrStdin(const std::string& path,
                                            size_t max_bytes = kMaxFileBytes);

// For a file that is read again and had content before. A writer that rewrites a file in place
// empties it first, so white space alone is kInvalidArgument; a file can be emptied with a comment.
absl::Status HasNotBecomeEmpty(absl::string_view text);

}  // namespace flyball
