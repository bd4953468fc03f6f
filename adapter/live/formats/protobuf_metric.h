// Reads the values in protobuf's Metric messages; used only by the reader of pages.
//
// Pure. Functions return false if the bytes are no such message.
#pragma once

#include <cstddef>
#include <vector>

namespace flyball::formats {

class WireReader;

// A bound or a quantile with its count or value.
struct MetricStep {
  double at = 0;
  double value = 0;
};

// The most that are read; each takes many times as much memory as it may take on the wire.
inline constexpr size_t kMaxSteps = 65'536;

// The value of a metric of any type.
struct MetricValue {
  double value = 0;  // the count of summaries and histograms
  double sum = 0;
  std::vector<MetricStep> steps;
};

// Reads the field at the reader's position: a Counter, a Gauge or an Untyped.
bool ReadSimpleValue(WireReader& reader, MetricValue& metric);
bool ReadSummaryValue(WireReader& reader, MetricValue& metric);
bool ReadHistogramValue(WireReader& reader, MetricValue& metric);

}  // namespace flyball::formats
