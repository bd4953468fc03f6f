// The log of a server: standard error, a line for each message.
//
// Control characters in a message are escaped, and only the first 16 KiB of a message are written.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace flyball::serve {

// The lowest --v at which more is logged than an operator must know: each request with its user and
// user agent, and each query to Prometheus with its server, time and size.
inline constexpr int kLogRequests = 3;
inline constexpr int kLogQueries = 6;

// Sets the default logger. `format`: text, or json (a line with an object of time, level and msg).
void SetUpLogging(const std::string& format, int verbosity);

// A list of problems, one a line: the first 20 of a file's, and how many more there are.
std::string ProblemLines(std::vector<std::string> problems);

// Logs a list of problems, one message for each line of `text`.
void LogErrorLines(absl::string_view text);

}  // namespace flyball::serve
