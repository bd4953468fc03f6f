#include "adapter/live/formats/protobuf_metric.h"

#include <cstdint>

#include "adapter/live/formats/wire_reader.h"

namespace flyball::formats {
namespace {

// Field numbers, by message.
namespace histogram_field {
constexpr int kCount = 1, kSum = 2, kBucket = 3, kCountFloat = 4;
}
namespace summary_field {
constexpr int kCount = 1, kSum = 2, kQuantile = 3;
}

// A number with a whole and a float form, of which the latter counts where it is not zero.
bool ReadCount(WireReader& reader, double& count) {
  uint64_t number = 0;
  if (!reader.ReadVarint(&number)) return false;
  if (count == 0) count = static_cast<double>(number);
  return true;
}

bool ReadCountFloat(WireReader& reader, double& count) {
  double number = 0;
  if (!reader.ReadDouble(&number)) return false;
  if (number != 0) count = number;
  return true;
}

bool ReadQuantile(WireReader& outer, MetricStep& step) {
  return ReadMessage(outer, [&](WireReader& reader, int field) {
    return field == 1   ? reader.ReadDouble(&step.at)
           : field == 2 ? reader.ReadDouble(&step.value)
                        : reader.Skip();
  });
}

bool ReadBucket(WireReader& outer, MetricStep& step) {
  return ReadMessage(outer, [&](WireReader& reader, int field) {
    return field == 1   ? ReadCount(reader, step.value)
           : field == 2 ? reader.ReadDouble(&step.at)
           : field == 4 ? ReadCountFloat(reader, step.value)
                        : reader.Skip();
  });
}

}  // namespace

bool ReadSimpleValue(WireReader& outer, MetricValue& metric) {
  return ReadMessage(outer, [&](WireReader& reader, int field) {
    return field == 1 ? reader.ReadDouble(&metric.value) : reader.Skip();
  });
}

bool ReadSummaryValue(WireReader& outer, MetricValue& metric) {
  return ReadMessage(outer, [&](WireReader& reader, int field) {
    return field == summary_field::kCount ? ReadCount(reader, metric.value)
           : field == summary_field::kSum ? reader.ReadDouble(&metric.sum)
           : field == summary_field::kQuantile
               ? metric.steps.size() < kMaxSteps &&
                     ReadQuantile(reader, metric.steps.emplace_back())
               : reader.Skip();
  });
}

bool ReadHistogramValue(WireReader& outer, MetricValue& metric) {
  return ReadMessage(outer, [&](WireReader& reader, int field) {
    return field == histogram_field::kCount        ? ReadCount(reader, metric.value)
           : field == histogram_field::kSum        ? reader.ReadDouble(&metric.sum)
           : field == histogram_field::kCountFloat ? ReadCountFloat(reader, metric.value)
           : field == histogram_field::kBucket
               ? metric.steps.size() < kMaxSteps && ReadBucket(reader, metric.steps.emplace_back())
               : reader.Skip();
  });
}

}  // namespace flyball::formats
