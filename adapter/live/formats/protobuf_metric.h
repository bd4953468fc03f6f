// The values in protobuf's Metric messages, for the reader of pages alone.
//
// Pure. Functions return false where the bytes are no such message.
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::formats {

class WireReader;

// A bound or a quantile with what belongs to it.
struct MetricStep {
  double at = 0;
  double value = 0;
};

// Most that are read; each takes many times what it may take on the wire.
inline constexpr size_t kMaxSteps = 65'536;

// What a metric has, whatever its type.
struct MetricValue {
  double value = 0;  // the count of summaries and histograms
  double sum = 0;
  std::vector<MetricStep> steps;
};

// The field that the reader stands at: a Counter, a Gauge or an Untyped.
bool ReadSimpleValue(WireReader& reader, MetricValue& metric);
bool ReadSummaryValue(WireReader& reader, MetricValue& metric);
bool ReadHistogramValue(WireReader& reader, MetricValue& metric);

}  // namespace flyball::formats
