// The log of a server: standard error, a line for each message.
//
// Control characters in a message are escaped, and of one longer than 16 KiB only the beginning is
// written.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace flyball::serve {

// From which --v on more is logged than what an operator must know: each request with its user and
// user agent, and each query to Prometheus with its server, time and size.
inline constexpr int kLogRequests = 3;
inline constexpr int kLogQueries = 6;

// Sets the default logger. `format`: text, or json (an object with time, level and msg a line).
void SetUpLogging(const std::string& format, int verbosity);

// Logs a list of problems, one message for each line of `text`.
void LogErrorLines(absl::string_view text);

}  // namespace flyball::serve
