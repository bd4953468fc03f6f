// The process's log: to stderr, text or JSON lines, at the level of prometheus-adapter's -v.
#pragma once

#include <string>

namespace flyball::serve {

// `format` is text or json. `verbosity`: 0 to 5 info, 6 and 7 debug, from 8 trace.
void SetUpLogging(const std::string& format, int verbosity);

}  // namespace flyball::serve
