// The log of a server: standard error, a line for each message.
#pragma once

#include <string>

namespace flyball::serve {

// From which --v on more is logged than what an operator must know: each request with its user and
// user agent, and each query to Prometheus with its server, time and size.
inline constexpr int kLogRequests = 3;
inline constexpr int kLogQueries = 6;

// Sets the default logger. `format`: text, or json (an object with time, level and msg a line).
void SetUpLogging(const std::string& format, int verbosity);

}  // namespace flyball::serve
