#include "adapter/live/formats/protobuf_metric.h"

#include <cstdint>

#include "absl/strings/string_view.h"
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

bool ReadQuantile(WireReader& reader, MetricStep& step) {
  absl::string_view message;
  if (!reader.ReadBytes(&message)) return false;
  WireReader inner(message);
  while (const int field = inner.Next()) {
    const bool good = field == 1   ? inner.ReadDouble(&step.at)
                      : field == 2 ? inner.ReadDouble(&step.value)
                                   : inner.Skip();
    if (!good) return false;
  }
  return inner.AtEnd();
}

bool ReadBucket(WireReader& reader, MetricStep& step) {
  absl::string_view message;
  if (!reader.ReadBytes(&message)) return false;
  WireReader inner(message);
  while (const int field = inner.Next()) {
    const bool good = field == 1   ? ReadCount(inner, step.value)
                      : field == 2 ? inner.ReadDouble(&step.at)
                      : field == 4 ? ReadCountFloat(inner, step.value)
                                   : inner.Skip();
    if (!good) return false;
  }
  return inner.AtEnd();
}

}  // namespace

bool ReadSimpleValue(WireReader& reader, MetricValue& metric) {
  absl::string_view message;
  if (!reader.ReadBytes(&message)) return false;
  WireReader inner(message);
  while (const int field = inner.Next()) {
    if (!(field == 1 ? inner.ReadDouble(&metric.value) : inner.Skip())) return false;
  }
  return inner.AtEnd();
}

bool ReadSummaryValue(WireReader& reader, MetricValue& metric) {
  absl::string_view message;
  if (!reader.ReadBytes(&message)) return false;
  WireReader inner(message);
  while (const int field = inner.Next()) {
    const bool good = field == summary_field::kCount ? ReadCount(inner, metric.value)
                      : field == summary_field::kSum ? inner.ReadDouble(&metric.sum)
                      : field == summary_field::kQuantile
                          ? metric.steps.size() < kMaxSteps &&
                                ReadQuantile(inner, metric.steps.emplace_back())
                          : inner.Skip();
    if (!good) return false;
  }
  return inner.AtEnd();
}

bool ReadHistogramValue(WireReader& reader, MetricValue& metric) {
  absl::string_view message;
  if (!reader.ReadBytes(&message)) return false;
  WireReader inner(message);
  while (const int field = inner.Next()) {
    const bool good = field == histogram_field::kCount        ? ReadCount(inner, metric.value)
                      : field == histogram_field::kSum        ? inner.ReadDouble(&metric.sum)
                      : field == histogram_field::kCountFloat ? ReadCountFloat(inner, metric.value)
                      : field == histogram_field::kBucket
                          ? metric.steps.size() < kMaxSteps &&
                                ReadBucket(inner, metric.steps.emplace_back())
                          : inner.Skip();
    if (!good) return false;
  }
  return inner.AtEnd();
}

}  // namespace flyball::formats
