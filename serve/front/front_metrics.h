// The present values of the metrics flyball_front_… of a process with a front.
#pragma once

#include <vector>

#include "serve/front/serve_front.h"

namespace prometheus {
struct MetricFamily;
}

namespace flyball::serve {

std::vector<prometheus::MetricFamily> FrontMetrics(const ServeFront& front);

}  // namespace flyball::serve
