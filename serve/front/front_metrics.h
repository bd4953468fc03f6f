// The metrics flyball_front_… of a process that carries requests, as they are now.
#pragma once

#include <vector>

#include "serve/front/serve_front.h"

namespace prometheus {
struct MetricFamily;
}

namespace flyball::serve {

std::vector<prometheus::MetricFamily> FrontMetrics(const ServeFront& front);

}  // namespace flyball::serve
