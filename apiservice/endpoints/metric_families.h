// Collects metrics for the text of /metrics.
//
// Not thread-safe; one for each text.
#pragma once

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/histogram.h"

namespace flyball::apiservice {

class MetricFamilies {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  // `value`: a number, or an atomic of one.
  template <typename Number>
  void Counter(const char* name, const char* help, const Number& value, Labels labels = {}) {
    Add(name, help, prometheus::MetricType::Counter, std::move(labels)).counter.value =
        static_cast<double>(value);
  }
  template <typename Number>
  void Gauge(const char* name, const char* help, const Number& value, Labels labels = {}) {
    Add(name, help, prometheus::MetricType::Gauge, std::move(labels)).gauge.value =
        static_cast<double>(value);
  }

  // Adds nothing if nothing was observed.
  template <size_t N>
  void AddHistogram(const char* name, const char* help, Labels labels, const Histogram<N>& from) {
    prometheus::ClientMetric::Histogram histogram;
    for (size_t i = 0; i <= N; ++i) {
      histogram.sample_count += from.count(i);
      const double bound = i < N ? from.bounds()[i] : std::numeric_limits<double>::infinity();
      histogram.bucket.push_back({histogram.sample_count, bound});
    }
    if (histogram.sample_count == 0) return;
    histogram.sample_sum = from.sum();
    Add(name, help, prometheus::MetricType::Histogram, std::move(labels)).histogram =
        std::move(histogram);
  }

  std::string Text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  // Families stay in the order of their first metric.
  prometheus::ClientMetric& Add(const char* name, const char* help, prometheus::MetricType type,
                                Labels labels) {
    auto family = families_.begin();
    while (family != families_.end() && family->name != name) ++family;
    if (family == families_.end()) family = families_.insert(family, {name, help, type, {}});
    prometheus::ClientMetric& metric = family->metric.emplace_back();
    metric.label = std::move(labels);
    return metric;
  }

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace flyball::apiservice
