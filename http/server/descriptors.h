// How many connections the process has file descriptors for.
#pragma once

#include <cstddef>

namespace flyball::http {

// At most `wanted`. Raises the soft limit towards the hard one, as Go's runtime does, and leaves
// descriptors for what the server itself opens: files, the API server, Prometheus.
size_t ConnectionsPossible(size_t wanted);

}  // namespace flyball::http
