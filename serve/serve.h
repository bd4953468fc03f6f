// flyball serve: the API server over rules, a metric source and an object directory, from flags to
// the last answer.
//
// Threads: this one waits for signals; the libraries below own theirs. Order of stopping: not ready
// for the shutdown delay, the scaler (its leases are released), the server (it stops listening and
// finishes the requests in flight), the rule file's watcher, the relist, the watches.
#pragma once

#include "base/clock.h"
#include "serve/flags.h"

namespace flyball::serve {

inline constexpr int kStartError = 255;  // as prometheus-adapter

// Serves until SIGTERM or SIGINT and returns the exit status: 0, or kStartError with a line in the
// log. Blocks these signals and SIGHUP, so no other thread may run yet.
int Serve(ServeFlags flags, Clock& clock);

}  // namespace flyball::serve
