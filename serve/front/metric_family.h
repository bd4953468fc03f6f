// A family of metrics, from values that are read at a scrape. Pure.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace flyball::serve {

struct MetricValue {
  std::vector<prometheus::ClientMetric::Label> labels;
  double value = 0;
};

// `type` is Counter or Gauge, or any where there are no values.
inline prometheus::MetricFamily Family(prometheus::MetricType type, const char* name,
                                       const char* help, const std::vector<MetricValue>& values) {
  prometheus::MetricFamily family{.name = name, .help = help, .type = type, .metric = {}};
  for (const MetricValue& value : values) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    metric.label = value.labels;
    (type == prometheus::MetricType::Gauge ? metric.gauge.value : metric.counter.value) =
        value.value;
  }
  return family;
}

}  // namespace flyball::serve
